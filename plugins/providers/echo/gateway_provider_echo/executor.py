"""Answers chat completions in this process, whole or as a stream."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gateway_core import Credential, Transport, UpstreamRequest, UpstreamResponse

ID = "chatcmpl-echo"
CREATED = 1_700_000_000
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Echo:
    """Repeats the last user message; ``echo-tools`` calls every tool it is given instead."""

    name = "echo"

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        body = _decode(request.body)
        message = write_message(body)
        usage = count_usage(body, message)
        if body.get("stream"):
            wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
            frames = list(write_stream(body["model"], message, usage if wants_usage else None))
            return EchoResponse(frames, "text/event-stream")
        return EchoResponse(
            [_encode(write_reply(body["model"], message, usage))], "application/json"
        )


class EchoResponse:
    """An answer that is all there already, given piece by piece."""

    status = 200

    def __init__(self, pieces: Sequence[bytes], content_type: str) -> None:
        self.headers: Mapping[str, str] = {"content-type": content_type}
        self._pieces = iter(pieces)

    async def next(self) -> bytes:
        return next(self._pieces, b"")

    async def aclose(self) -> None:
        self._pieces = iter(())


def write_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """The assistant's message."""
    text = last_text(body.get("messages") or [])
    message: dict[str, Any] = {"role": "assistant", "content": text}
    tools = [tool for tool in body.get("tools") or [] if tool.get("type") == "function"]
    last = (body.get("messages") or [{}])[-1]
    has_result = last.get("role") == "tool"  # calling again would never end
    if body["model"] == "echo-tools" and tools and not has_result:
        message["content"] = None
        message["tool_calls"] = [
            write_call(number, tool, text) for number, tool in enumerate(tools, 1)
        ]
    if body["model"] == "echo-thinks":
        message["reasoning_content"] = f"I am to repeat {len(text)} characters."
    return message


def last_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the last message that a user or a tool sent."""
    for message in reversed(messages):
        if message.get("role") in ("user", "tool"):
            return text_of(message.get("content"))
    return ""


def text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def write_call(number: int, tool: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A call of a tool, with the text for each of its required string arguments."""
    function = tool["function"]
    schema = function.get("parameters") or {}
    known = schema.get("properties") or {}
    arguments = {
        name: text
        for name in schema.get("required") or []
        if known.get(name, {}).get("type") == "string"
    }
    return {
        "id": f"call_echo{number}",
        "type": "function",
        "function": {"name": function["name"], "arguments": _encode(arguments).decode()},
    }


def count_usage(body: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, int]:
    """Four characters to a token."""
    prompt = sum(len(text_of(turn.get("content"))) for turn in body.get("messages") or [])
    completion = len(_encode(message.get("tool_calls"))) if "tool_calls" in message else 0
    completion += len(message["content"] or "") + len(message.get("reasoning_content", ""))
    prompt_tokens, completion_tokens = max(1, prompt // 4), max(1, completion // 4)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def finish_reason_of(message: Mapping[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def write_reply(model: str, message: Mapping[str, Any], usage: Mapping[str, int]) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason_of(message)}
    return {
        "id": ID,
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def write_stream(
    model: str, message: Mapping[str, Any], usage: Mapping[str, int] | None
) -> Iterator[bytes]:
    """The same answer as chunks, word by word."""
    yield write_chunk(model, {"role": "assistant", "content": ""})
    if "reasoning_content" in message:
        yield write_chunk(model, {"reasoning_content": message["reasoning_content"]})
    for word in words(message["content"] or ""):
        yield write_chunk(model, {"content": word})
    for index, call in enumerate(message.get("tool_calls") or []):
        yield write_chunk(model, {"tool_calls": [{"index": index, **call}]})
    yield write_chunk(model, {}, finish_reason_of(message))
    if usage is not None:
        yield write_frame({**chunk_members(model), "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def words(text: str) -> list[str]:
    """The words of a text, each with the space before it."""
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def write_chunk(model: str, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return write_frame({**chunk_members(model), "choices": [choice]})


def chunk_members(model: str) -> dict[str, Any]:
    return {"id": ID, "object": "chat.completion.chunk", "created": CREATED, "model": model}


def write_frame(value: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(value)
