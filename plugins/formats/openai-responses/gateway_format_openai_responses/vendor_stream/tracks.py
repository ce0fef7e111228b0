"""One output item of a stream while it grows, as the events it has given so far.

Vendors differ in what they send: some leave out deltas and give a text only
when it is done, some leave out the ``added`` events, some close nothing. So a
track knows what it has given of each part, and the finished item, wherever it
comes from, brings whatever is still missing.
"""

from dataclasses import dataclass, field

from msgspec import Raw

from gateway_core import (
    AnyPart,
    Citation,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    StreamEvent,
    Text,
    ToolCall,
)

from .._dialect import NULL
from .._output_items import id_of, text_of


@dataclass(slots=True)
class Given:
    """What has been given of one part."""

    index: int
    length: int = 0
    """Characters that have grown."""
    tail: str = ""
    """The last of them, by which a whole text is known to be the same one."""
    citations: int = 0
    ended: bool = False


@dataclass(slots=True)
class Parts:
    """Numbers the parts of a reply in the order they start, and remembers what they were."""

    count: int = 0
    calls: bool = False
    refusals: bool = False

    def start(self, part: AnyPart, events: list[StreamEvent]) -> Given:
        given = Given(self.count)
        self.count += 1
        self.calls = self.calls or isinstance(part, ToolCall)
        self.refusals = self.refusals or isinstance(part, Refusal)
        events.append(PartStarted(given.index, part))
        return given


@dataclass(slots=True)
class Track:
    """An output item: its kind, and its parts by where they stand in it."""

    kind: str
    raw: Raw
    """The item as it was when it began."""
    parts: dict[int, Given] = field(default_factory=dict)
    done: bool = False
    place: int = 0
    """Of thinking: the piece that grew last, so that a new one gets a gap before it."""
    summary: bool | None = None
    """Of thinking: whether what grew last was a summary."""

    def last(self) -> Given | None:
        return next(reversed(self.parts.values()), None)

    def identity(self) -> str | None:
        """The vendor's id of the item, as it was when it began."""
        return None if self.raw == NULL else id_of(self.raw)


def grow(given: Given, text: str, events: list[StreamEvent], logprobs: Raw | None = None) -> None:
    if given.ended or not (text or logprobs is not None):
        return
    given.length += len(text)
    given.tail = text
    events.append(PartGrew(given.index, text, 0, logprobs))


def catch_up(
    given: Given, whole: str, events: list[StreamEvent], logprobs: Raw | None = None
) -> None:
    """Give the rest of a text that is now known whole; its rows only if none of it was given."""
    length = given.length
    if len(whole) > length and whole[:length].endswith(given.tail):
        grow(given, whole[length:], events, None if length else logprobs)


def cite(given: Given, citation: Citation, events: list[StreamEvent]) -> None:
    if not given.ended:
        given.citations += 1
        events.append(CitationAdded(given.index, citation))


def end(given: Given, events: list[StreamEvent]) -> None:
    if not given.ended:
        given.ended = True
        events.append(PartEnded(given.index))


def complete(
    given: Given, part: AnyPart, events: list[StreamEvent], logprobs: Raw | None = None
) -> None:
    """Give what is missing of a part whose final form is known, and end it."""
    if given.ended:
        return
    catch_up(given, text_of(part), events, logprobs)
    if isinstance(part, Text):
        for citation in part.citations[given.citations :]:
            cite(given, citation, events)
    if isinstance(part, Reasoning) and part.sealed is not None:
        events.append(PartSealed(given.index, sealed=part.sealed))
    end(given, events)
