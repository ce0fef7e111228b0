"""The same question in each client format, as plain JSON, and where it is asked."""

from collections.abc import Mapping
from typing import Any

import msgspec

from .subject import ProviderUnderTest, Route

WORDS = "Say hello"
TOOL = "look_up"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
_FUNCTION = {"name": TOOL, "description": "Looks up a city"}
_OPENAI_TOOL = {"type": "function", "function": {**_FUNCTION, "parameters": SCHEMA}}
_MESSAGES = {"messages": [{"role": "user", "content": WORDS}]}
_PLAIN: dict[str, dict[str, Any]] = {
    "openai": {**_MESSAGES},
    "claude": {"max_tokens": 64, **_MESSAGES},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": WORDS}]}]},
    "ollama": {**_MESSAGES},
    "openai-responses": {"input": WORDS},
}
_TOOLS: dict[str, list[dict[str, Any]]] = {
    "openai": [_OPENAI_TOOL],
    "claude": [{**_FUNCTION, "input_schema": SCHEMA}],
    "gemini": [{"functionDeclarations": [{**_FUNCTION, "parameters": SCHEMA}]}],
    "ollama": [_OPENAI_TOOL],
    "openai-responses": [{"type": "function", **_FUNCTION, "parameters": SCHEMA}],
}
_PATHS = {
    "openai": "/v1/chat/completions",
    "claude": "/v1/messages",
    "ollama": "/v1/api/chat",
    "openai-responses": "/v1/responses",
}


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request, ready to be sent to the gateway."""

    path: str
    body: bytes
    client: str
    stream: bool


def build_request(
    subject: ProviderUnderTest,
    route: Route,
    *,
    stream: bool,
    tools: bool = False,
    extra_members: Mapping[str, Any] = {},
) -> ChatRequest:
    """Ask for the route's model in the route's client format."""
    client, model = route.client, f"{subject.spec.id}/{route.model.id}"
    members = {**_PLAIN[client], **({"tools": _TOOLS[client]} if tools else {}), **extra_members}
    if client == "gemini":
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        path = f"/v1beta/models/{model}:{verb}"
    else:
        path, members = _PATHS[client], {"model": model, "stream": stream, **members}
    if client == "openai" and stream:
        members["stream_options"] = {"include_usage": True}
    return ChatRequest(path=path, body=msgspec.json.encode(members), client=client, stream=stream)
