"""A script with which a mock vendor answers each request in the request's dialect."""

from collections.abc import Sequence
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from .answer import MockAnswer
from .content import TEXT, Content
from .dialects import find_dialect, wants_stream
from .faults import apply_fault
from .frames import Dialect, encode
from .server import MockResponse, ReceivedRequest

MODELS = ("model-1", "model-2")


class DialectScript(Struct, kw_only=True):
    """Callable as a script. Fields may be changed between two requests."""

    dialect: Dialect | None = None
    """``None`` goes by each request's path."""
    content: Content = TEXT
    fault: str | None = None
    models: Sequence[str] = MODELS

    def __call__(self, request: ReceivedRequest) -> MockResponse:
        if request.method == "GET":
            return MockResponse((model_list(request, self.models),))
        try:
            dialect = self.dialect or find_dialect(request)
            scene = MockAnswer(
                dialect=dialect,
                content=self.content,
                model=model_of(request, dialect.model_member or "model"),
                stream=wants_stream(request, dialect.stream_member or "stream"),
            )
        except (msgspec.DecodeError, UnicodeDecodeError):
            return MockResponse((b'{"error":{"message":"The body is no JSON object"}}',), 400)
        return scene.response() if self.fault is None else apply_fault(scene, self.fault)


def model_of(request: ReceivedRequest, member: str = "model") -> str:
    """The model that a request names, in its body or in its path."""
    model = request.members().get(member)
    if isinstance(model, str):
        return model
    for before in ("/models/", "/model/", "/deployments/"):
        if before in request.path:
            rest = request.path.partition(before)[2].partition(":")[0]
            return unquote(rest.removesuffix("/converse-stream").removesuffix("/converse"))
    return MODELS[0]


def model_list(request: ReceivedRequest, models: Sequence[str]) -> bytes:
    """The vendor's models, in the format of the request's path."""
    if request.path.endswith("/api/tags"):
        return encode({"models": [{"name": each, "model": each} for each in models]})
    if "/v1beta/" in request.path:
        verbs = {"supportedGenerationMethods": ["generateContent"]}
        return encode({"models": [{"name": f"models/{each}", **verbs} for each in models]})
    return encode({"object": "list", "data": [{"id": each, "object": "model"} for each in models]})
