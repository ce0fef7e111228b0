"""Estimates a prompt's tokens, for vendors that cannot count them.

https://docs.anthropic.com/en/api/messages-count-tokens
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_formats.estimate import estimate_tokens

from .._dialect import NULL, Unreadable, encode, is_null


class CountedBody(Struct):
    """The members of a request that make up its prompt."""

    system: Any = None
    tools: Raw = NULL
    messages: Any = None


_decode = msgspec.json.Decoder(CountedBody).decode


def count_path(model: str) -> str:
    return "/messages/count_tokens"


def estimate(body: bytes) -> bytes:
    """The response of the counting endpoint; an invalid body counts as an empty prompt."""
    try:
        prompt = _decode(body)
        count = _count_characters(prompt.system)
        for turn in prompt.messages if isinstance(prompt.messages, list) else ():
            if isinstance(turn, dict):
                count += _count_characters(turn.get("content"))
        if not is_null(prompt.tools):
            count += len(bytes(prompt.tools).decode("utf-8", "replace"))
    except Unreadable:
        count = 0
    return encode({"input_tokens": estimate_tokens(count), "approximate": True})


def _count_characters(content: Any) -> int:
    """Of text, thinking, calls and results; media count for nothing."""
    if isinstance(content, str):
        return len(content)
    total = 0
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "tool_use":
                total += len(str(block.get("name", "")))
                total += len(encode(block.get("input", {})).decode())
            case "tool_result":
                total += _count_characters(block.get("content"))
            case "thinking":
                total += len(str(block.get("thinking", "")))
            case _:
                text = block.get("text")
                total += len(text) if isinstance(text, str) else 0
    return total
