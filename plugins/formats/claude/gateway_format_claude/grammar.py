"""What a whole stream of this format looks like.

Words carry no numbers: a block event whose index does not fit (a delta without
its block, a second start, a block left open at the end) is the word
``rubbish``, as is a frame whose event name is not its type.
https://docs.anthropic.com/en/api/messages-streaming#event-types
"""

import msgspec
from msgspec import Struct

from gateway_core import Grammar
from gateway_formats.sse import parse_events

from ._dialect import Unreadable


class FrameEvent(Struct):
    type: str
    index: int = -1


_decode = msgspec.json.Decoder(FrameEvent).decode

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
            # An index may come again once its block has ended.
            fresh = index >= 0 and index not in self._open
            self._open.add(index)
            return fresh
        fresh = index in self._open
        self._open.discard(index)
        return fresh

    def close_all(self) -> list[int]:
        """The blocks that are still open, which are not any more."""
        left = sorted(self._open)
        self._open.clear()
        return left

    @property
    def all_closed(self) -> bool:
        return not self._open


def words(stream: bytes) -> list[str]:
    """One word per frame; frames without data are comments and have none."""
    order = BlockOrder()
    labels: list[str] = []
    for name, data in parse_events(stream):
        try:
            event = _decode(data)
        except Unreadable:
            labels.append(RUBBISH)
            continue
        fits = event.type.encode() == name
        if event.type in BLOCK_EVENTS:
            fits = fits and order.fits(event.type, event.index)
        elif event.type == "message_delta":
            fits = fits and order.all_closed
        labels.append(_WORDS.get(event.type, "other") if fits else RUBBISH)
    return labels


# Pings may come anywhere, even behind the end; unknown events are to be expected.
_IDLE = "(?:ping |other )*"
_CONTENT = "(?:ping |other |open |more |close )*"
GRAMMAR = Grammar(
    words=words,
    pattern=f"{_IDLE}(?:message {_CONTENT}(?:end {_IDLE})+stop (?:ping )*"
    f"|(?:message {_CONTENT}(?:end {_IDLE})*)?error )",
)
