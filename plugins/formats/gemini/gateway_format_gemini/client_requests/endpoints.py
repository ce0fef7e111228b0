"""The client paths of this format. The end of the path names the operation.

https://ai.google.dev/api/generate-content and https://ai.google.dev/api/tokens
"""

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from gateway_core import Counting, Endpoint, Intake
from gateway_formats.estimate import count_prompt_characters, estimate_tokens

from ..vendor_requests import count_path
from .request import read_conversation, unwrap_counted

_ROOTS = ("/v1beta", "/v1")
"""Older client libraries call the one, newer ones the other."""


def estimate(body: bytes) -> bytes:
    """``totalTokens`` by heuristic. Raises BadRequest."""
    conversation = read_conversation(unwrap_counted(body), "", stream=False)
    return msgspec.json.encode(
        {"totalTokens": estimate_tokens(count_prompt_characters(conversation))}
    )


def read_whole_call(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    return Intake(_read_model(path), stream=False)


def read_stream_call(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    return Intake(_read_model(path), stream=True)


def _read_model(path: Mapping[str, str]) -> str:
    """The model's name, which may repeat the word before it."""
    name = path.get("model", "")
    while name.startswith("models/"):
        name = name.removeprefix("models/")
    return name


_COUNTING = Counting(path=count_path, estimate=estimate)
# Some libraries leave ``models/`` out where the model's name has a slash of its own:
# https://ai-sdk.dev/providers/ai-sdk-providers/google-generative-ai
_FOLDERS = ("/models", "")
ENDPOINTS = tuple(
    endpoint
    for folder in _FOLDERS
    for root in _ROOTS
    for endpoint in (
        Endpoint(path=f"{root}{folder}/{{model}}:generateContent", read=read_whole_call),
        Endpoint(path=f"{root}{folder}/{{model}}:streamGenerateContent", read=read_stream_call),
        Endpoint(
            path=f"{root}{folder}/{{model}}:countTokens", read=read_whole_call, counting=_COUNTING
        ),
    )
)
