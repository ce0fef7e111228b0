"""Write the stream that replies to a request to compact a conversation."""

from collections.abc import Iterable, Sequence

import msgspec

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Conversation,
    Losses,
    PartEnded,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    UpstreamError,
    UsageReported,
)
from gateway_formats.fold import Gatherer, as_failure

from .._compaction import compact_reply
from .writer import Writer

SILENCE = b": keepalive\n\n"
"""Sent while the model writes its summary, of which the client sees nothing."""

_encode = msgspec.json.Encoder().encode


class CompactionWriter:
    """Writes an ordinary stream whose only item is the compaction."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._writer = Writer(request, losses)
        self._gatherer = Gatherer()
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._failed:
            return b""
        self._gatherer.feed(events)
        self._failed = any(isinstance(event, ReplyFailed) for event in events)
        shown = [e for e in events if isinstance(e, ReplyStarted | UsageReported | ReplyFailed)]
        return self._writer.feed(shown) or SILENCE

    def close(self) -> bytes:
        if self._failed:
            return b""
        try:
            items = compact_reply(self._gatherer.reply()).choices[0].parts
        except UpstreamError as error:
            return self._writer.feed((as_failure(error),))
        return self._writer.feed(compaction_events(items)) + self._writer.close()


def compaction_events(items: Iterable[AnyPart]) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    for index, item in enumerate(items):
        events += (PartStarted(index, item), PartEnded(index))
    return [*events, ChoiceEnded("stop")]
