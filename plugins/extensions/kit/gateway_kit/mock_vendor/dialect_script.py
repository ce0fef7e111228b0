"""A script for a mock vendor that answers whoever asks, in the dialect that is asked for."""

from collections.abc import Sequence
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from .answer import Scene
from .content import TEXT, Content
from .dialects import dialect_of, wants_stream
from .faults import spoil
from .frames import Dialect, encode
from .server import Asked, Said

MODELS = ("model-1", "model-2")


class Answering(Struct, kw_only=True):
    """Callable as a script. Fields may be changed between two requests."""

    dialect: Dialect | None = None
    """``None`` goes by each request's path."""
    content: Content = TEXT
    fault: str | None = None
    models: Sequence[str] = MODELS

    def __call__(self, asked: Asked) -> Said:
        if asked.method == "GET":
            return Said((model_list(asked, self.models),))
        try:
            scene = Scene(
                dialect=self.dialect or dialect_of(asked),
                content=self.content,
                model=model_of(asked),
                stream=wants_stream(asked),
            )
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Said((b'{"error":{"message":"The body is no JSON object"}}',), 400)
        return scene.said() if self.fault is None else spoil(scene, self.fault)


def model_of(asked: Asked) -> str:
    """The model that a request names, in its body or in its path."""
    named = asked.members().get("model")
    return named if isinstance(named, str) else _in_path(asked.path)


def _in_path(path: str) -> str:
    for before in ("/models/", "/model/", "/deployments/"):
        if before in path:
            rest = path.partition(before)[2].partition(":")[0]
            return unquote(rest.removesuffix("/converse-stream").removesuffix("/converse"))
    return MODELS[0]


def model_list(asked: Asked, models: Sequence[str]) -> bytes:
    """The vendor's models, in the shape of the path they are asked at."""
    if asked.path.endswith("/api/tags"):
        return encode({"models": [{"name": each, "model": each} for each in models]})
    if "/v1beta/" in asked.path:
        verbs = {"supportedGenerationMethods": ["generateContent"]}
        return encode({"models": [{"name": f"models/{each}", **verbs} for each in models]})
    return encode({"object": "list", "data": [{"id": each, "object": "model"} for each in models]})
