"""What a whole stream of this format looks like.

Words carry no numbers: a block event whose index does not fit (a delta without
its block, a second start, a block left open at the end) is the word
``rubbish``, as is a frame whose event name is not its type.
"""

import msgspec
from msgspec import Struct

from gateway_core import Grammar
from gateway_formats.sse import parse_events

from .dialect import Unreadable


class _Event(Struct):
    type: str
    index: int = -1


_decode = msgspec.json.Decoder(_Event).decode

RUBBISH = "rubbish"
BLOCK_EVENTS = ("content_block_delta", "content_block_start", "content_block_stop")
_WORDS = {
    "message_start": "message",
    "content_block_start": "open",
    "content_block_delta": "more",
    "content_block_stop": "close",
    "message_delta": "end",
    "message_stop": "stop",
    "ping": "ping",
    "error": "error",
}


class BlockOrder:
    """Which blocks are open; shared by the grammar and the relay's watch."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: set[int] = set()

    def fits(self, kind: str, index: int) -> bool:
        """Note a block event; false when it cannot stand here."""
        if kind == "content_block_delta":
            return index in self._open
        if kind == "content_block_start":
            fresh = index >= 0 and index not in self._open
            self._open.add(index)
            return fresh
        fresh = index in self._open
        self._open.discard(index)
        return fresh

    @property
    def all_closed(self) -> bool:
        return not self._open


def words(stream: bytes) -> list[str]:
    """One word per frame; frames without data are comments and have none."""
    order = BlockOrder()
    return [_word(name, data, order) for name, data in parse_events(stream)]


def _word(name: bytes, data: bytes, order: BlockOrder) -> str:
    try:
        event = _decode(data)
    except Unreadable:
        return RUBBISH
    if event.type.encode() != name:
        return RUBBISH
    if event.type in BLOCK_EVENTS and not order.fits(event.type, event.index):
        return RUBBISH
    if event.type == "message_delta" and not order.all_closed:
        return RUBBISH
    return _WORDS.get(event.type, "other")


_IDLE = "(?:ping |other )*"
_CONTENT = "(?:ping |other |open |more |close )*"
GRAMMAR = Grammar(
    words=words,
    pattern=f"{_IDLE}(?:message {_CONTENT}(?:end {_IDLE})+stop (?:ping )*"
    f"|(?:message {_CONTENT}(?:end {_IDLE})*)?error )",
)
