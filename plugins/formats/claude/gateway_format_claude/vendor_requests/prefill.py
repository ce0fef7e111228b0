"""An answer begun for the assistant: this wire wants a conversation to end on a user turn.

A last assistant turn that ends in text is kept and followed by a user turn
that asks to continue; tool calls that nobody answered get error results. A
turn that the vendor itself paused, which ends in its own tool's block, is to
be sent back as it was. The header ``x-gateway-assistant-prefill: preserve``
leaves all of this alone.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from .._dialect import Unreadable, encode
from .turn_order import Message, failed_result, of_type, text_block

CONTINUE = "Continue exactly where your last message ends, without repeating any of it."


class _Turn(Struct):
    role: str
    content: Raw


class _Block(Struct):
    type: str
    id: str = ""


_turns = msgspec.json.Decoder(list[_Turn]).decode
_blocks = msgspec.json.Decoder(list[_Block]).decode


def with_ending(messages: list[Message]) -> list[Message]:
    """The messages, with a user turn behind an assistant's last one where it needs one."""
    last = messages[-1]
    if last.role != "assistant":
        return messages
    calls = [str(call["id"]) for call in of_type(last.blocks, "tool_use")]
    final = last.blocks[-1]
    ending = _ending(calls, str(final["type"]) if isinstance(final, dict) else "")
    return messages if ending is None else [*messages, Message("user", ending)]


def repaired(messages: Raw) -> Raw | None:
    """A body's ``messages`` with its missing last turn, or ``None`` when nothing is missing.

    Rubbish is left for the vendor to refuse.
    """
    try:
        turns = _turns(messages)
        if not turns or turns[-1].role != "assistant":
            return None
        ending = _ending_of(turns[-1].content)
    except Unreadable:
        return None
    if ending is None:
        return None
    turn = encode({"role": "user", "content": ending})
    return Raw(bytes(messages).rstrip()[:-1].rstrip() + b"," + turn + b"]")


def _ending_of(content: Raw) -> list[Any] | None:
    if bytes(memoryview(content)[:1]) == b'"':
        return _ending([], "text")
    blocks = _blocks(content)
    calls = [block.id for block in blocks if block.type == "tool_use"]
    return _ending(calls, blocks[-1].type if blocks else "text")


def _ending(calls: list[str], final: str) -> list[Any] | None:
    if calls:
        return [failed_result(call_id) for call_id in calls]
    if final in ("text", "thinking", "redacted_thinking"):
        return [text_block(CONTINUE)]
    return None
