"""Cohere's chat, version 2."""

from collections.abc import Sequence
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
    frames: list[Frame] = []

    def add(role: FrameRole, kind: str, **members: Any) -> None:
        frames.append(Frame(role, named_event({"type": kind, **members})))

    add("start", "message-start", id="c-1", **_delta(role="assistant"))
    parts: list[tuple[FrameRole, Sequence[str]]] = [
        ("thinking", content.thinking),
        ("text", content.text),
    ]
    for index, (kind, pieces) in enumerate(part for part in parts if part[1]):
        empty = {"type": kind, kind: ""}
        add(kind, "content-start", index=index, **_delta(content=empty))
        for piece in pieces:
            add(kind, "content-delta", index=index, **_delta(content={kind: piece}))
        add(kind, "content-end", index=index)
    for index, call in enumerate(content.calls):
        add("call", "tool-call-start", index=index, **_delta(tool_calls=_call(call, "")))
        for half in halves(_arguments(call)):
            grown = {"function": {"arguments": half}}
            add("call", "tool-call-delta", index=index, **_delta(tool_calls=grown))
        add("call", "tool-call-end", index=index)
    end = {"finish_reason": _finish(content), **_usage(content.usage)}
    add("finish", "message-end", delta=end)
    return frames


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
