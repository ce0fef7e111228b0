"""The order of events that a reader promises."""

from collections.abc import Sequence

from gateway_core import (
    ChoiceEnded,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    UsageReported,
)


class _OrderCheck:
    """What may come next."""

    def __init__(self) -> None:
        self.has_started = self.failed = False
        self.started: dict[int, int] = {}
        self.open: set[tuple[int, int]] = set()
        self.ended: set[int] = set()

    def accepts(self, event: StreamEvent) -> bool:
        if self.failed:
            return False
        match event:
            case ReplyFailed():
                self.failed = True
                return True
            case ReplyStarted():
                was, self.has_started = self.has_started, True
                return not was
            case UsageReported():
                return self.has_started
            case ChoiceEnded():
                is_open = any(of == event.choice for of, _ in self.open)
                was_ended = event.choice in self.ended
                self.ended.add(event.choice)
                return self.has_started and not is_open and not was_ended
            case PartStarted():
                index = self.started.get(event.choice, 0)
                self.started[event.choice] = index + 1
                self.open.add((event.choice, event.index))
                return self.has_started and event.index == index and event.choice not in self.ended
            case PartGrew() | PartSealed() | CitationAdded() | PartEnded():
                place = (event.choice, event.index)
                is_open = place in self.open
                if isinstance(event, PartEnded):
                    self.open.discard(place)
                return is_open


def find_disorder(events: Sequence[StreamEvent]) -> str | None:
    """What is out of order in a whole stream's events, or ``None``."""
    order = _OrderCheck()
    for place, event in enumerate(events):
        if not order.accepts(event):
            return f"event {place} may not stand there: {event!r}"
    return None if order.failed or order.ended else "no ChoiceEnded and no ReplyFailed"
