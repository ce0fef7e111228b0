"""Reads the blocks of a vendor's answer, which come whole and in streams.

https://docs.anthropic.com/en/api/messages#response-content
"""

from collections.abc import Mapping

import msgspec
from msgspec import Raw, Struct

from gateway_core import AnyPart, Foreign, Reasoning, Refusal, Text, ToolCall

from ._citations import read_citation
from ._dialect import DIALECT, Extra, Unreadable, decode_members, drop_nulls, is_null
from ._tool_calls import drop_usual_caller

LATE = ("container", "context_management", "input_transformations", "stop_details")
"""Members that are known when the answer ends, and stand in ``Choice.extra``."""

_MEMBERS = ("type", "text", "citations", "thinking", "signature", "data", "id", "name", "input")
_NO_INPUT = (b"{}", b"null", b"")


class Block(Struct, gc=False):
    """A content block, as far as the hub knows it."""

    type: str
    text: str | None = None
    citations: list[Raw] | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"{}")


class StopDetails(Struct):
    """Why the vendor refused."""

    explanation: str | None = None


_decode_block = msgspec.json.Decoder(Block).decode
_decode_details = msgspec.json.Decoder(StopDetails).decode

_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use")


def read_block(raw: Raw) -> tuple[Block, AnyPart]:
    """A block and its part. Raises MsgspecError for an invalid one."""
    block = _decode_block(raw)
    part = read_words(block)
    if part is not None:
        return block, part
    # Blocks of the vendor's own tools, and types to come, go back to it byte by byte.
    if block.type != "tool_use":
        return block, Foreign(dialect=DIALECT, type=block.type, raw=raw)
    more = {name: value for name, value in decode_members(raw).items() if name not in _MEMBERS}
    return block, ToolCall(
        id=block.id or "",
        name=block.name or "",
        arguments=read_input(block.input) or "{}",
        extra=drop_usual_caller(drop_nulls(more)),
    )


def read_words(block: Block) -> Text | Reasoning | None:
    """The part of a block of text or thinking; ``None`` for any other."""
    match block.type:
        case "text":
            if not block.citations:
                return Text(text=block.text or "")
            return Text(text=block.text or "", citations=tuple(map(read_citation, block.citations)))
        case "thinking":
            return Reasoning(text=block.thinking or "", signature=block.signature or None)
        case "redacted_thinking":
            return Reasoning(sealed=block.data or "")
    return None


def is_foreign(block: Block) -> bool:
    """Whether the hub can only carry this block whole."""
    return block.type not in _KNOWN


def read_input(raw: Raw) -> str:
    """A call's input as JSON text; empty when there is none."""
    text = bytes(raw)
    # A block begins with an empty input, which its deltas replace.
    return "" if text.replace(b" ", b"") in _NO_INPUT else text.decode()


def read_late_members(members: Mapping[str, Raw]) -> dict[str, Raw]:
    return {name: members[name] for name in LATE if name in members and not is_null(members[name])}


def read_refusal(extra: Extra) -> Refusal | None:
    """The vendor's explanation of a refusal, as a part that clients of other formats can show.

    Its ``extra`` tells this format's writer that the text also stands in ``stop_details``.
    """
    details = extra.get("stop_details")
    if details is None:
        return None
    try:
        explanation = _decode_details(details).explanation
    except Unreadable:
        return None
    if not explanation:
        return None
    return Refusal(text=explanation, extra={"stop_details": details})
