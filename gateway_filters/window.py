"""The end of a stream that a filter holds back, so that it sees what is cut into pieces whole.

```text
sent ◀── seen, may go ── │ held back: look_ahead characters of each text ── fresh ◀── vendor
                         │ a tool call until it is whole
```
"""

from collections.abc import Container, Iterable, Sequence
from typing import Protocol

from gateway_core import (
    PartEnded,
    PartGrew,
    PartStarted,
    ReplyStarted,
    StreamEvent,
    ToolCall,
    UsageReported,
)

Place = tuple[int | None, int | None]
"""Choice and index of a part."""

LONGEST_CALL = 1024 * 1024
"""Characters of a tool call that are held back at most."""


class Looking(Protocol):
    """What looks at a stream."""

    look_ahead: int
    """Characters of a text that grows which are held back."""
    is_active: bool
    """False once it is to see no more of the stream."""

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        """The events to go on with, as many as these."""
        ...


class Window:
    """What one filter has not let go yet."""

    def __init__(self, check: Looking) -> None:
        self._check = check
        self._held: list[StreamEvent] = []
        self._calls: dict[Place, int] = {}
        """Open tool calls, with the characters of each."""
        self._fresh = 0
        """Characters that the filter has not seen."""
        self._is_due = False

    async def move(self, events: Sequence[StreamEvent], *, is_last: bool) -> Sequence[StreamEvent]:
        """Take what comes and give what may go on. Raises what the filter ends the answer with,
        and GatewayError where it is required and failed."""
        check = self._check
        if not check.is_active:
            return events
        for event in events:
            self._take(event)
        is_due = self._is_due or self._fresh > check.look_ahead
        if not self._held or not (is_due or is_last):
            return ()
        window = join(self._held)
        whole = len(window) if is_last else whole_until(window, self._calls)
        self._fresh, self._is_due = 0, False
        if not whole:
            return ()
        seen = list(await check.events(window[:whole], is_last=is_last))
        if is_last or not check.is_active:
            self._held = []
            return without_empty((*seen, *window[whole:]))
        go, self._held = split(seen, check.look_ahead)
        self._held += window[whole:]
        return without_empty(go)

    def _take(self, event: StreamEvent) -> None:
        self._held.append(event)
        place = place_of(event)
        if isinstance(event, PartStarted):
            if isinstance(event.part, ToolCall):
                self._calls[place] = 0
        elif isinstance(event, PartGrew):
            if place not in self._calls:
                self._fresh += len(event.text)
                return
            self._calls[place] += len(event.text)
            if self._calls[place] > LONGEST_CALL:
                del self._calls[place]
                self._is_due = True
        elif not isinstance(event, ReplyStarted | UsageReported):
            if isinstance(event, PartEnded):
                self._calls.pop(place, None)
            # Whatever ends a piece of the answer need not wait for more of it.
            self._is_due = True


def place_of(event: StreamEvent) -> Place:
    return getattr(event, "choice", None), getattr(event, "index", None)


def join(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    """The events with the pieces of each text put together, as far as nothing else of its part
    stands between them."""
    joined: list[StreamEvent] = []
    pieces: dict[int, list[str]] = {}
    growing: dict[Place, int] = {}
    for event in events:
        place = place_of(event)
        if not isinstance(event, PartGrew):
            growing.pop(place, None)
            joined.append(event)
        elif place in growing:
            pieces[growing[place]].append(event.text)
        else:
            growing[place] = len(joined)
            pieces[len(joined)] = [event.text]
            joined.append(event)
    for position, texts in pieces.items():
        place = place_of(joined[position])
        joined[position] = PartGrew(place[1] or 0, "".join(texts), place[0] or 0)
    return joined


def whole_until(window: Sequence[StreamEvent], calls: Container[Place]) -> int:
    """How many events stand before the first tool call that is open. Parts start in the order of
    their indices, so what follows waits too."""
    for at, event in enumerate(window):
        if isinstance(event, PartStarted) and place_of(event) in calls:
            return at
    return len(window)


def split(
    window: Sequence[StreamEvent], look_ahead: int
) -> tuple[list[StreamEvent], list[StreamEvent]]:
    """What of a window may go, and what is held back."""
    go: list[StreamEvent] = []
    held: list[StreamEvent] = []
    ended = {place_of(event) for event in window if isinstance(event, PartEnded)}
    last = {place_of(event): at for at, event in enumerate(window) if isinstance(event, PartGrew)}
    holding = set[Place]()
    for at, event in enumerate(window):
        place = place_of(event)
        if place in holding:
            held.append(event)
        elif (
            isinstance(event, PartGrew) and look_ahead and place not in ended and at == last[place]
        ):
            holding.add(place)
            go.append(PartGrew(event.index, event.text[:-look_ahead], event.choice))
            held.append(PartGrew(event.index, event.text[-look_ahead:], event.choice))
        else:
            go.append(event)
    return go, held


def without_empty(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    """The events without pieces of text that say nothing."""
    return [event for event in events if not isinstance(event, PartGrew) or event.text]
