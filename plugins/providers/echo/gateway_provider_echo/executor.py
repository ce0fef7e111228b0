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
        asked = _decode(request.body)
        message = answer(asked)
        usage = counted(asked, message)
        if asked.get("stream"):
            wants_usage = (asked.get("stream_options") or {}).get("include_usage", False)
            frames = list(streamed(asked["model"], message, usage if wants_usage else None))
            return Answer(frames, "text/event-stream")
        return Answer([_encode(whole(asked["model"], message, usage))], "application/json")


class Answer:
    """An answer that is all there already, given piece by piece."""

    status = 200

    def __init__(self, pieces: Sequence[bytes], content_type: str) -> None:
        self.headers: Mapping[str, str] = {"content-type": content_type}
        self._pieces = iter(pieces)

    async def next(self) -> bytes:
        return next(self._pieces, b"")

    async def aclose(self) -> None:
        self._pieces = iter(())


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The assistant's message."""
    text = last_words(asked.get("messages") or [])
    message: dict[str, Any] = {"role": "assistant", "content": text}
    tools = [tool for tool in asked.get("tools") or [] if tool.get("type") == "function"]
    if asked["model"] == "echo-tools" and tools and not _was_answered(asked):
        message["content"] = None
        message["tool_calls"] = [called(number, tool, text) for number, tool in enumerate(tools, 1)]
    if asked["model"] == "echo-thinks":
        message["reasoning_content"] = f"I am to repeat {len(text)} characters."
    return message


def last_words(messages: Sequence[Mapping[str, Any]]) -> str:
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


def called(number: int, tool: Mapping[str, Any], text: str) -> dict[str, Any]:
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


def _was_answered(asked: Mapping[str, Any]) -> bool:
    messages = asked.get("messages") or [{}]
    return bool(messages[-1].get("role") == "tool")


def counted(asked: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, int]:
    """Four characters to a token."""
    prompt = sum(len(text_of(turn.get("content"))) for turn in asked.get("messages") or [])
    spoken = len(_encode(message.get("tool_calls"))) if "tool_calls" in message else 0
    spoken += len(message["content"] or "") + len(message.get("reasoning_content", ""))
    prompt_tokens, completion_tokens = max(1, prompt // 4), max(1, spoken // 4)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def finish(message: Mapping[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def whole(model: str, message: Mapping[str, Any], usage: Mapping[str, int]) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish(message)}
    return {
        "id": ID,
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def streamed(
    model: str, message: Mapping[str, Any], usage: Mapping[str, int] | None
) -> Iterator[bytes]:
    """The same answer as chunks, word by word."""
    yield chunk(model, {"role": "assistant", "content": ""})
    if "reasoning_content" in message:
        yield chunk(model, {"reasoning_content": message["reasoning_content"]})
    for word in words(message["content"] or ""):
        yield chunk(model, {"content": word})
    for index, call in enumerate(message.get("tool_calls") or []):
        yield chunk(model, {"tool_calls": [{"index": index, **call}]})
    yield chunk(model, {}, finish(message))
    if usage is not None:
        yield framed({**_chunk(model), "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def words(text: str) -> list[str]:
    """The words of a text, each with the space before it."""
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def chunk(model: str, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return framed({**_chunk(model), "choices": [choice]})


def _chunk(model: str) -> dict[str, Any]:
    return {"id": ID, "object": "chat.completion.chunk", "created": CREATED, "model": model}


def framed(value: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(value)
