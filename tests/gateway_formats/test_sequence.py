"""One part at a time, and nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Usage,
    UsageReported,
)
from gateway_formats.sequence import PartEvent, Sequencer


@st.composite
def interleaved(draw: st.DrawFn) -> list[StreamEvent]:
    """Parts that overlap in any way; some are never ended before the choice is."""
    count = draw(st.integers(0, 4))
    tails: list[list[PartEvent]] = []
    for index in range(count):
        middle = draw(
            st.lists(
                st.sampled_from(
                    [PartSealed(index, "s"), CitationAdded(index, Citation(url="u"))]
                    + [PartGrew(index, letter) for letter in "abc"]
                ),
                max_size=4,
            )
        )
        ended = [PartEnded(index)] if draw(st.booleans()) else []
        tails.append([*middle, *ended])
    events: list[StreamEvent] = [ReplyStarted("r", "m")]
    started = 0
    while started < count or any(tails[:started]):
        ready = [index for index in range(started) if tails[index]]
        if started < count and (not ready or draw(st.booleans())):
            events.append(PartStarted(started, Text(text="")))
            started += 1
        else:
            events.append(tails[draw(st.sampled_from(ready))].pop(0))
    return [*events, ChoiceEnded("stop"), UsageReported(Usage(input_tokens=1))]


def fed(events: list[StreamEvent], size: int) -> list[StreamEvent]:
    sequencer = Sequencer()
    pieces = [events[start : start + size] for start in range(0, len(events), size)]
    return [event for piece in pieces for event in sequencer.feed(piece)]


def of_part(events: list[StreamEvent], index: int) -> list[StreamEvent]:
    return [event for event in events if getattr(event, "index", None) == index]


@given(interleaved(), st.integers(1, 20))
def test_parts_never_interleave(events: list[StreamEvent], size: int) -> None:
    current: int | None = None

    for event in fed(events, size):
        if isinstance(event, PartStarted):
            assert current is None
            current = event.index
        elif isinstance(event, PartGrew | PartSealed | CitationAdded | PartEnded):
            assert event.index == current
            current = None if isinstance(event, PartEnded) else current
        elif isinstance(event, ChoiceEnded):
            assert current is None


@given(interleaved(), st.integers(1, 20))
def test_nothing_is_lost_and_every_part_is_ended_once(events: list[StreamEvent], size: int) -> None:
    given = fed(events, size)

    for index in range(5):
        before = [event for event in of_part(events, index) if event != PartEnded(index)]
        after = of_part(given, index)
        assert after == ([*before, PartEnded(index)] if before else [])
    others = [event for event in events if not hasattr(event, "index")]
    assert [event for event in given if not hasattr(event, "index")] == others


@given(interleaved())
def test_how_events_are_portioned_changes_nothing(events: list[StreamEvent]) -> None:
    assert fed(events, 1) == fed(events, 100)


def test_the_first_open_part_is_not_held_back() -> None:
    sequencer = Sequencer()
    start, more = PartStarted(0, Text(text="")), PartGrew(0, "x")

    assert sequencer.feed([start]) == [start]
    assert sequencer.feed([PartStarted(1, Text(text="")), more]) == [more]


def test_other_choices_are_left_out() -> None:
    events: list[StreamEvent] = [PartStarted(0, Text(text=""), 1), ChoiceEnded("stop", 1)]

    assert Sequencer().feed(events) == []


def test_a_failure_passes_at_once() -> None:
    sequencer = Sequencer()
    sequencer.feed([PartStarted(0, Text(text=""))])

    assert sequencer.feed([ReplyFailed("Broke")]) == [ReplyFailed("Broke")]


@given(interleaved())
def test_what_passes_is_given_as_it_is(events: list[StreamEvent]) -> None:
    sequencer = Sequencer()

    for event in events:
        passes = isinstance(event, PartGrew) and sequencer.passes(event)
        ready = sequencer.feed([event])
        assert ready == [event] or not passes
