"""Counting a prompt's tokens by a rule of thumb, for vendors that cannot."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_formats.estimate import estimate_tokens

from .dialect import NULL, Unreadable, encode, is_null


class _Body(Struct):
    system: Any = None
    tools: Raw = NULL
    messages: Any = None


_body = msgspec.json.Decoder(_Body).decode


def path(model: str) -> str:
    return "/messages/count_tokens"


def estimate(body: bytes) -> bytes:
    """The answer of the counting endpoint; rubbish counts as an empty prompt."""
    try:
        said = _body(body)
        count = _characters(said.system) + _turns(said.messages) + _tools(said.tools)
    except Unreadable:
        count = 0
    return encode({"input_tokens": estimate_tokens(count), "approximate": True})


def _tools(tools: Raw) -> int:
    return 0 if is_null(tools) else len(bytes(tools).decode("utf-8", "replace"))


def _turns(messages: Any) -> int:
    turns = messages if isinstance(messages, list) else ()
    return sum(_characters(turn.get("content")) for turn in turns if isinstance(turn, dict))


def _characters(content: Any) -> int:
    """Of text, thinking, calls and results; no media bytes."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list):
        return 0
    return sum(_block(block) for block in content if isinstance(block, dict))


def _block(block: dict[str, Any]) -> int:
    match block.get("type"):
        case "tool_use":
            return len(str(block.get("name", ""))) + len(encode(block.get("input", {})).decode())
        case "tool_result":
            return _characters(block.get("content"))
        case "thinking":
            return len(str(block.get("thinking", "")))
    text = block.get("text")
    return len(text) if isinstance(text, str) else 0
