"""Chat completions, as most vendors answer them."""

from collections.abc import Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, FrameRole, data, encode, halves

_ID = {"id": "chatcmpl-1", "created": 1_700_000_000}


def whole(content: Content, model: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": content.words or None}
    if content.thinking:
        message["reasoning_content"] = "".join(content.thinking)
    if content.calls:
        message["tool_calls"] = [_call(call, _arguments(call)) for call in content.calls]
    choice = {"index": 0, "message": message, "finish_reason": _finish(content)}
    answer = {**_ID, "object": "chat.completion", "model": model, "choices": [choice]}
    return encode({**answer, **_usage(content.usage)})


def stream(content: Content, model: str) -> Sequence[Frame]:
    chunk = {**_ID, "object": "chat.completion.chunk", "model": model}
    frames: list[Frame] = []

    def add(role: FrameRole, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        frames.append(Frame(role, data({**chunk, "choices": [choice]})))

    add("start", {"role": "assistant", "content": ""})
    for piece in content.thinking:
        add("thinking", {"reasoning_content": piece})
    for piece in content.text:
        add("text", {"content": piece})
    for index, call in enumerate(content.calls):
        add("call", {"tool_calls": [{"index": index, **_call(call, "")}]})
        for half in halves(_arguments(call)):
            add("call", {"tool_calls": [{"index": index, "function": {"arguments": half}}]})
    add("finish", {}, _finish(content))
    if content.usage is not None:
        frames.append(Frame("usage", data({**chunk, "choices": [], **_usage(content.usage)})))
    return [*frames, Frame("end", b"data: [DONE]\n\n")]


def _call(call: ToolUse, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(call: ToolUse) -> str:
    return encode(call.arguments).decode()


def _finish(content: Content) -> str:
    return "tool_calls" if content.calls else "stop"


def _usage(usage: TokenCounts | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {
        "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
    }


def refusal(text: str, status: int) -> bytes:
    return encode({"error": {"message": text, "type": "refused", "param": None, "code": None}})


def broken(text: str) -> bytes:
    return data({"error": {"message": text, "type": "server_error", "code": 500}})


OPENAI = Dialect(id="openai", whole=whole, stream=stream, refusal=refusal, broken=broken)
