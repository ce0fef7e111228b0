"""Messages, with a block for each part and counts at both ends of a stream."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .content import Content, TokenCounts
from .frames import Dialect, Frame, FrameRole, encode, halves, named_event

_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant"}
_SIGNATURE = "c2lnbmVk"

Block = tuple[FrameRole, dict[str, Any], dict[str, Any], list[dict[str, Any]]]
"""What it does, the block as it begins, the block as it ends and its deltas."""


def whole(content: Content, model: str) -> bytes:
    return encode(
        {
            **_MESSAGE,
            "model": model,
            "content": [block for _, _, block, _ in _blocks(content)],
            "stop_reason": _stop(content),
            "stop_sequence": None,
            "usage": _usage(content.usage),
        }
    )


def stream(content: Content, model: str) -> Sequence[Frame]:
    frames: list[Frame] = []

    def add(role: FrameRole, event: Mapping[str, Any]) -> None:
        frames.append(Frame(role, named_event(event)))

    unfinished: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
    first_usage = {**_usage(content.usage), "output_tokens": 1} if content.usage else {}
    message = {**_MESSAGE, "model": model, **unfinished, "usage": first_usage}
    add("start", {"type": "message_start", "message": message})
    add("start", {"type": "ping"})
    for index, (role, first, _, deltas) in enumerate(_blocks(content)):
        add(role, {"type": "content_block_start", "index": index, "content_block": first})
        for delta in deltas:
            add(role, {"type": "content_block_delta", "index": index, "delta": delta})
        add(role, {"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _stop(content), "stop_sequence": None}
    add("finish", {"type": "message_delta", "delta": stop, "usage": _usage(content.usage)})
    add("end", {"type": "message_stop"})
    return frames


def _blocks(content: Content) -> Iterator[Block]:
    if content.thinking:
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        full = {**empty, "thinking": "".join(content.thinking), "signature": _SIGNATURE}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in content.thinking]
        sealed = {"type": "signature_delta", "signature": _SIGNATURE}
        yield "thinking", empty, full, [*deltas, sealed]
    if content.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in content.text]
        yield "text", _text(""), _text(content.words), deltas
    for call in content.calls:
        use = {"type": "tool_use", "id": call.id, "name": call.name}
        pieces = halves(encode(call.arguments).decode())
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield "call", {**use, "input": {}}, {**use, "input": call.arguments}, deltas


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _stop(content: Content) -> str:
    return "tool_use" if content.calls else "end_turn"


def _usage(usage: TokenCounts | None) -> dict[str, Any]:
    if usage is None:
        return {}
    # The vendor does not count cached tokens inside input_tokens.
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.output,
    }


def _error(text: str, kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


def refusal(text: str, status: int) -> bytes:
    kinds = {401: "authentication_error", 429: "rate_limit_error"}
    return encode(_error(text, kinds.get(status, "api_error")))


def broken(text: str) -> bytes:
    return named_event(_error(text, "overloaded_error"))


CLAUDE = Dialect(
    id="claude",
    whole=whole,
    stream=stream,
    refusal=refusal,
    broken=broken,
    counts=frozenset({"cached"}),
)
