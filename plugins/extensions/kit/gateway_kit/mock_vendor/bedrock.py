"""Converse: blocks like those of messages, in a binary event stream."""

from collections.abc import Iterator, Sequence
from typing import Any

from .content import Content, TokenCounts
from .frames import Dialect, Frame, FrameRole, binary_message, encode, halves

_SIGNATURE = "c2lnbmVk"


def whole(content: Content, model: str) -> bytes:
    blocks: list[dict[str, Any]] = []
    if content.thinking:
        thought = {"text": "".join(content.thinking), "signature": _SIGNATURE}
        blocks.append({"reasoningContent": {"reasoningText": thought}})
    if content.text:
        blocks.append({"text": content.words})
    for call in content.calls:
        use = {"toolUseId": call.id, "name": call.name, "input": call.arguments}
        blocks.append({"toolUse": use})
    message_body = {"role": "assistant", "content": blocks}
    answer = {"output": {"message": message_body}, "stopReason": _stop(content)}
    return encode({**answer, **_usage(content.usage)})


def stream(content: Content, model: str) -> Sequence[Frame]:
    frames: list[Frame] = []

    def add(role: FrameRole, name: str, event: dict[str, Any]) -> None:
        frames.append(Frame(role, binary_message(name, event)))

    add("start", "messageStart", {"role": "assistant"})
    for index, (role, start, deltas) in enumerate(_streamed(content)):
        place = {"contentBlockIndex": index}
        if start is not None:
            add(role, "contentBlockStart", {**place, "start": start})
        for delta in deltas:
            add(role, "contentBlockDelta", {**place, "delta": delta})
        add(role, "contentBlockStop", place)
    add("finish", "messageStop", {"stopReason": _stop(content)})
    add("end", "metadata", _usage(content.usage))
    return frames


def _streamed(content: Content) -> Iterator[tuple[FrameRole, Any, list[dict[str, Any]]]]:
    if content.thinking:
        deltas: list[dict[str, Any]] = [
            {"reasoningContent": {"text": piece}} for piece in content.thinking
        ]
        yield "thinking", None, [*deltas, {"reasoningContent": {"signature": _SIGNATURE}}]
    if content.text:
        yield "text", None, [{"text": piece} for piece in content.text]
    for call in content.calls:
        start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        pieces = halves(encode(call.arguments).decode())
        yield "call", start, [{"toolUse": {"input": piece}} for piece in pieces]


def _stop(content: Content) -> str:
    return "tool_use" if content.calls else "end_turn"


def _usage(usage: TokenCounts | None) -> dict[str, Any]:
    if usage is None:
        return {}
    # The vendor does not count cached tokens inside inputTokens.
    counts = {
        "inputTokens": usage.input - usage.cached,
        "cacheReadInputTokens": usage.cached,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
    }
    return {"usage": counts}


def refusal(text: str, status: int) -> bytes:
    return encode({"message": text})


def broken(text: str) -> bytes:
    return binary_message("internalServerException", {"message": text}, kind="exception")


BEDROCK = Dialect(
    id="bedrock",
    framing="binary",
    whole=whole,
    stream=stream,
    refusal=refusal,
    broken=broken,
    counts=frozenset({"cached"}),
)
