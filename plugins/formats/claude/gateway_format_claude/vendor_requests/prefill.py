"""Completes a conversation that ends on the assistant: this wire wants a user turn at its end.

A last assistant turn that ends in text is kept and followed by a user turn that asks to continue;
tool calls without results get error results. A turn that the vendor itself paused, which ends in
its own tool's block, has to go back as it was. The header ``x-gateway-assistant-prefill:
preserve`` turns all of this off.
https://docs.anthropic.com/en/docs/build-with-claude/prompt-engineering/prefill-claudes-response
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from .._dialect import Unreadable, encode
from .turn_order import Message, failed_result, of_type, text_block

CONTINUE = "Continue exactly where your last message ends, without repeating any of it."


class SentTurn(Struct):
    """A message of a body that passes through."""

    role: str
    content: Raw


class SentBlock(Struct):
    type: str
    id: str = ""


_decode_turns = msgspec.json.Decoder(list[SentTurn]).decode
_decode_blocks = msgspec.json.Decoder(list[SentBlock]).decode


def add_ending(messages: list[Message]) -> list[Message]:
    """The messages, with a user turn behind an assistant's last one where it needs one."""
    last = messages[-1]
    if last.role != "assistant":
        return messages
    calls = [str(call["id"]) for call in of_type(last.blocks, "tool_use")]
    final = last.blocks[-1]
    ending = _build_ending(calls, str(final["type"]) if isinstance(final, dict) else "")
    return messages if ending is None else [*messages, Message("user", ending)]


def complete_messages(messages: Raw) -> Raw | None:
    """A body's ``messages`` with its missing last turn, or ``None`` when nothing is missing.

    Invalid messages are left for the vendor to refuse.
    """
    try:
        turns = _decode_turns(messages)
        if not turns or turns[-1].role != "assistant":
            return None
        content = turns[-1].content
        if bytes(memoryview(content)[:1]) == b'"':
            ending = _build_ending([], "text")
        else:
            blocks = _decode_blocks(content)
            calls = [block.id for block in blocks if block.type == "tool_use"]
            ending = _build_ending(calls, blocks[-1].type if blocks else "text")
    except Unreadable:
        return None
    if ending is None:
        return None
    turn = encode({"role": "user", "content": ending})
    # The turns before keep their bytes, so the vendor's prompt cache still knows them.
    return Raw(bytes(messages).rstrip()[:-1].rstrip() + b"," + turn + b"]")


def _build_ending(calls: list[str], final: str) -> list[Any] | None:
    if calls:
        return [failed_result(call_id) for call_id in calls]
    if final in ("text", "thinking", "redacted_thinking"):
        return [text_block(CONTINUE)]
    return None
