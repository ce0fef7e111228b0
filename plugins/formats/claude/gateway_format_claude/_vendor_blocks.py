"""The pieces of a vendor's answer that its whole and its streamed form share."""

from collections.abc import Mapping

import msgspec
from msgspec import Raw, Struct

from gateway_core import AnyPart, Foreign, Reasoning, Refusal, Text, ToolCall

from ._citations import read_citation
from ._dialect import DIALECT, Extra, Unreadable, is_null, members_of, present
from .client_requests.blocks import without_usual_caller

LATE = ("container", "context_management", "input_transformations", "stop_details")
"""Members that are known when the answer ends, and stand in ``Choice.extra``."""

_BLOCK = ("type", "text", "citations", "thinking", "signature", "data", "id", "name", "input")
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


class _StopDetails(Struct):
    explanation: str | None = None


_block = msgspec.json.Decoder(Block).decode
_details = msgspec.json.Decoder(_StopDetails).decode

_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use")


def read_block(of: Raw) -> tuple[Block, AnyPart]:
    """A block and the part it amounts to. Raises MsgspecError for rubbish."""
    block = _block(of)
    part = spoken(block)
    if part is not None:
        return block, part
    if block.type == "tool_use":
        return block, _call(block, of)
    return block, Foreign(dialect=DIALECT, type=block.type, raw=of)


def spoken(block: Block) -> Text | Reasoning | None:
    """The part that a block of words amounts to; ``None`` for one that takes more to read."""
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


def _call(block: Block, of: Raw) -> ToolCall:
    more = {name: value for name, value in members_of(of).items() if name not in _BLOCK}
    return ToolCall(
        id=block.id or "",
        name=block.name or "",
        arguments=input_text(block.input) or "{}",
        extra=without_usual_caller(present(more)),
    )


def input_text(said: Raw) -> str:
    """A call's input as JSON text; empty when it says nothing."""
    text = bytes(said)
    return "" if text.replace(b" ", b"") in _NO_INPUT else text.decode()


def late_members(members: Mapping[str, Raw]) -> dict[str, Raw]:
    return {name: members[name] for name in LATE if name in members and not is_null(members[name])}


def refusal_in(extra: Extra) -> Refusal | None:
    """The vendor's explanation of a refusal, as a part that clients of other formats can show.

    Its ``extra`` tells this format's writer that the words are already in ``stop_details``.
    """
    details = extra.get("stop_details")
    if details is None:
        return None
    try:
        explanation = _details(details).explanation
    except Unreadable:
        return None
    if not explanation:
        return None
    return Refusal(text=explanation, extra={"stop_details": details})
