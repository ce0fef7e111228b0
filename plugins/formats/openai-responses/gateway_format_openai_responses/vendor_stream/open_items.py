"""One output item of a stream while it grows, as the events it has led to so far.

Vendors differ in what they send: some leave out deltas and give a text only
when it is done, some leave out the ``added`` events, some close nothing. So a
item records what it has reported of each part, and the finished item, wherever it
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
class PartProgress:
    """What has been reported of one part."""

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

    def start(self, part: AnyPart, events: list[StreamEvent]) -> PartProgress:
        progress = PartProgress(self.count)
        self.count += 1
        self.calls = self.calls or isinstance(part, ToolCall)
        self.refusals = self.refusals or isinstance(part, Refusal)
        events.append(PartStarted(progress.index, part))
        return progress


@dataclass(slots=True)
class OpenItem:
    """An output item: its kind, and its parts by where they stand in it."""

    kind: str
    raw: Raw
    """The item as it was when it began."""
    parts: dict[int, PartProgress] = field(default_factory=dict)
    done: bool = False
    place: int = 0
    """Of thinking: the piece that grew last, so that a new one gets a gap before it."""
    summary: bool | None = None
    """Of thinking: whether what grew last was a summary."""

    def last(self) -> PartProgress | None:
        return next(reversed(self.parts.values()), None)

    def identity(self) -> str | None:
        """The vendor's id of the item, as it was when it began."""
        return None if self.raw == NULL else id_of(self.raw)


def grow(
    progress: PartProgress, text: str, events: list[StreamEvent], logprobs: Raw | None = None
) -> None:
    if progress.ended or not (text or logprobs is not None):
        return
    progress.length += len(text)
    progress.tail = text
    events.append(PartGrew(progress.index, text, 0, logprobs))


def catch_up(
    progress: PartProgress, whole: str, events: list[StreamEvent], logprobs: Raw | None = None
) -> None:
    """Add the rest of a text that is now whole; its rows only if none of it was sent before."""
    length = progress.length
    # A whole text that does not continue the deltas is not repeated.
    if len(whole) > length and whole[:length].endswith(progress.tail):
        grow(progress, whole[length:], events, None if length else logprobs)


def cite(progress: PartProgress, citation: Citation, events: list[StreamEvent]) -> None:
    if not progress.ended:
        progress.citations += 1
        events.append(CitationAdded(progress.index, citation))


def end(progress: PartProgress, events: list[StreamEvent]) -> None:
    if not progress.ended:
        progress.ended = True
        events.append(PartEnded(progress.index))


def complete(
    progress: PartProgress, part: AnyPart, events: list[StreamEvent], logprobs: Raw | None = None
) -> None:
    """Give what is missing of a part whose final form is known, and end it."""
    if progress.ended:
        return
    catch_up(progress, text_of(part), events, logprobs)
    if isinstance(part, Text):
        for citation in part.citations[progress.citations :]:
            cite(progress, citation, events)
    if isinstance(part, Reasoning) and part.sealed is not None:
        events.append(PartSealed(progress.index, sealed=part.sealed))
    end(progress, events)
