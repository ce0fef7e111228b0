"""The client paths of this format. The end of the path says what is wanted."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec
from msgspec import Raw

from gateway_core import Counting, Endpoint, Intake
from gateway_formats.estimate import count_prompt_characters, estimate_tokens

from .request import counted, read_conversation

_PLAIN = "/:@.-_~"
_TREES = ("/v1beta", "/v1")
"""Older client libraries call the one tree, newer ones the other."""


def model_path(model: str, verb: str) -> str:
    return f"/models/{quote(model.removeprefix('models/'), safe=_PLAIN)}:{verb}"


def count_path(model: str) -> str:
    return model_path(model, "countTokens")


def estimate(body: bytes) -> bytes:
    """``totalTokens`` by heuristic. Raises BadRequest."""
    conversation = read_conversation(counted(body), "", stream=False)
    return msgspec.json.encode(
        {"totalTokens": estimate_tokens(count_prompt_characters(conversation))}
    )


def _named(path: Mapping[str, str]) -> str:
    """The model's name, which may repeat the word before it."""
    name = path.get("model", "")
    while name.startswith("models/"):
        name = name.removeprefix("models/")
    return name


def _read_whole(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    return Intake(_named(path), stream=False)


def _read_stream(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    return Intake(_named(path), stream=True)


def _tree(root: str) -> tuple[Endpoint, ...]:
    start = f"{root}/models/{{model}}"
    return (
        Endpoint(path=f"{start}:generateContent", read=_read_whole),
        Endpoint(path=f"{start}:streamGenerateContent", read=_read_stream),
        Endpoint(
            path=f"{start}:countTokens",
            read=_read_whole,
            counting=Counting(path=count_path, estimate=estimate),
        ),
    )


ENDPOINTS = tuple(endpoint for root in _TREES for endpoint in _tree(root))
