"""Generative content: each frame of a stream is an answer of its own."""

from collections.abc import Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, data, encode

_STATUSES = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def whole(content: Content, model: str) -> bytes:
    parts = [_thought(piece) for piece in ("".join(content.thinking),) if piece]
    parts += [{"text": content.words}] if content.text else []
    parts += [_call(call) for call in content.calls]
    return encode({**_candidate(parts, model, "STOP"), **_usage(content.usage)})


def stream(content: Content, model: str) -> Sequence[Frame]:
    frames = [
        Frame("thinking", data(_candidate([_thought(piece)], model))) for piece in content.thinking
    ]
    frames += [Frame("text", data(_candidate([{"text": each}], model))) for each in content.text]
    frames += [Frame("call", data(_candidate([_call(call)], model))) for call in content.calls]
    last = {**_candidate([{"text": ""}], model, "STOP"), **_usage(content.usage)}
    return [*frames, Frame("finish", data(last))]


def _candidate(
    parts: list[dict[str, Any]], model: str, finish: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": model, "responseId": "r-1"}


def _thought(text: str) -> dict[str, Any]:
    return {"text": text, "thought": True}


def _call(call: ToolUse) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}


def _usage(usage: TokenCounts | None) -> dict[str, Any]:
    if usage is None:
        return {}
    # The vendor does not count thoughts among the candidates' tokens.
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.input + usage.output,
    }
    return {"usageMetadata": counts}


def _error(text: str, status: int) -> dict[str, Any]:
    name = _STATUSES.get(status, "INTERNAL")
    return {"error": {"code": status, "message": text, "status": name}}


def refusal(text: str, status: int) -> bytes:
    return encode(_error(text, status))


def broken(text: str) -> bytes:
    return data(_error(text, 503))


GEMINI = Dialect(id="gemini", whole=whole, stream=stream, refusal=refusal, broken=broken)
