"""The local model server's chat: one JSON object a line."""

from collections.abc import Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, encode, line

_TIME = {"created_at": "2026-01-01T00:00:00Z"}


def whole(content: Content, model: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": content.words}
    if content.thinking:
        message["thinking"] = "".join(content.thinking)
    if content.calls:
        message["tool_calls"] = [_call(call) for call in content.calls]
    return encode({"model": model, **_TIME, "message": message, **_done(content.usage)})


def stream(content: Content, model: str) -> Sequence[Frame]:
    def chunk(**members: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": "", **members}
        return {"model": model, **_TIME, "message": message, "done": False}

    frames = [Frame("thinking", line(chunk(thinking=piece))) for piece in content.thinking]
    frames += [Frame("text", line(chunk(content=piece))) for piece in content.text]
    frames += [Frame("call", line(chunk(tool_calls=[_call(call)]))) for call in content.calls]
    return [*frames, Frame("finish", line({**chunk(), **_done(content.usage)}))]


def _call(call: ToolUse) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}


def _done(usage: TokenCounts | None) -> dict[str, Any]:
    done = {"done": True, "done_reason": "stop"}
    if usage is None:
        return done
    return {**done, "prompt_eval_count": usage.input, "eval_count": usage.output}


def refusal(text: str, status: int) -> bytes:
    return encode({"error": text})


def broken(text: str) -> bytes:
    return line({"error": text})


OLLAMA = Dialect(
    id="ollama",
    framing="lines",
    whole=whole,
    stream=stream,
    refusal=refusal,
    broken=broken,
    counts=frozenset(),
)
