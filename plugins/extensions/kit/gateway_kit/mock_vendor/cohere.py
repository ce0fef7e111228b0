"""Cohere's chat, version 2."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, FrameRole, encode, halves, named_event


def whole(content: Content, model: str) -> bytes:
    parts = []
    if content.thinking:
        parts.append({"type": "thinking", "thinking": "".join(content.thinking)})
    if content.text:
        parts.append({"type": "text", "text": content.words})
    message: dict[str, Any] = {"role": "assistant", "content": parts}
    if content.calls:
        message["tool_calls"] = [_call(each, _arguments(each)) for each in content.calls]
    answer = {"id": "c-1", "finish_reason": _finish(content), "message": message}
    return encode({**answer, **_usage(content.usage)})


def stream(content: Content, model: str) -> Sequence[Frame]:
    return [Frame(does, named_event(event)) for does, event in _events(content)]


def _events(content: Content) -> Iterator[tuple[FrameRole, Mapping[str, Any]]]:
    yield "start", {"type": "message-start", "id": "c-1", **_delta(role="assistant")}
    index = 0
    for kind, pieces in (("thinking", content.thinking), ("text", content.text)):
        if pieces:
            does: FrameRole = "thinking" if kind == "thinking" else "text"
            place = {"index": index}
            empty = {"type": kind, kind: ""}
            yield does, {"type": "content-start", **place, **_delta(content=empty)}
            for piece in pieces:
                yield does, {"type": "content-delta", **place, **_delta(content={kind: piece})}
            yield does, {"type": "content-end", **place}
            index += 1
    for number, call in enumerate(content.calls):
        yield from _call_events(number, call)
    finish = {"finish_reason": _finish(content), **_usage(content.usage)}
    yield "finish", {"type": "message-end", "delta": finish}


def _call_events(index: int, call: ToolUse) -> Iterator[tuple[FrameRole, Mapping[str, Any]]]:
    place = {"index": index}
    yield "call", {"type": "tool-call-start", **place, **_delta(tool_calls=_call(call, ""))}
    for half in halves(_arguments(call)):
        delta = {"function": {"arguments": half}}
        yield "call", {"type": "tool-call-delta", **place, **_delta(tool_calls=delta)}
    yield "call", {"type": "tool-call-end", **place}


def _delta(**message: Any) -> dict[str, Any]:
    return {"delta": {"message": message}}


def _call(call: ToolUse, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(call: ToolUse) -> str:
    return encode(call.arguments).decode()


def _finish(content: Content) -> str:
    return "TOOL_CALL" if content.calls else "COMPLETE"


def _usage(usage: TokenCounts | None) -> dict[str, Any]:
    if usage is None:
        return {}
    tokens = {"input_tokens": usage.input, "output_tokens": usage.output}
    return {"usage": {"tokens": tokens, "cached_tokens": usage.cached}}


def refusal(text: str, status: int) -> bytes:
    return encode({"id": "c-1", "message": text})


def broken(text: str) -> bytes:
    failed = {"finish_reason": "ERROR", "error": text}
    return named_event({"type": "message-end", "delta": failed})


COHERE = Dialect(
    id="cohere",
    whole=whole,
    stream=stream,
    refusal=refusal,
    broken=broken,
    counts=frozenset({"cached"}),
)
