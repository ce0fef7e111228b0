"""One part at a time: for formats whose streams cannot interleave parts.

A chat-completions vendor may send two tool calls by turns. Formats that open
and close one block after another get the events of the first open part as
they come, and those of a later part once the earlier ones have ended.
"""

from collections.abc import Iterable

from gateway_core import (
    ChoiceEnded,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    StreamEvent,
)

PartEvent = PartStarted | PartGrew | PartSealed | CitationAdded | PartEnded
_OF_PARTS = (PartStarted, PartEnded, PartSealed, CitationAdded)


class Sequencer:
    """Reorders the events of one choice; events of other choices are left out."""

    __slots__ = ("_open", "_waiting")

    def __init__(self) -> None:
        self._open: int | None = None
        self._waiting: dict[int, list[PartEvent]] = {}

    def passes(self, event: PartGrew) -> bool:
        """Whether feeding this event would give just it."""
        return event.choice == 0 and event.index == self._open

    def feed(self, events: Iterable[StreamEvent]) -> list[StreamEvent]:
        ready: list[StreamEvent] = []
        for event in events:
            if isinstance(event, PartGrew):
                if event.choice == 0:
                    if event.index == self._open:
                        ready.append(event)
                    else:
                        self._place(event, ready)
            elif isinstance(event, _OF_PARTS):
                if event.choice == 0:
                    self._place(event, ready)
            elif not isinstance(event, ChoiceEnded):
                ready.append(event)
            elif event.choice == 0:
                self._flush(ready)
                ready.append(event)
        return ready

    def _place(self, event: PartEvent, ready: list[StreamEvent]) -> None:
        # Only one part may be open at a time; the others wait for its end.
        if self._open is None or event.index == self._open:
            self._open = event.index
            ready.append(event)
            if isinstance(event, PartEnded):
                self._open = None
                self._release(ready)
        else:
            self._waiting.setdefault(event.index, []).append(event)

    def _release(self, ready: list[StreamEvent]) -> None:
        """Give what waited, part after part, until one is still open."""
        while self._waiting and self._open is None:
            index = min(self._waiting)
            events = self._waiting.pop(index)
            ready += events
            if not isinstance(events[-1], PartEnded):
                self._open = index

    def _flush(self, ready: list[StreamEvent]) -> None:
        """The choice is over: end every part that its reader left open."""
        while self._open is not None:
            ready.append(PartEnded(self._open))
            self._open = None
            self._release(ready)
