"""What a filter sees of a stream, and when the client gets it."""

import asyncio
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_core import (
    Call,
    ChoiceEnded,
    CitationAdded,
    GatewayError,
    Kind,
    Model,
    PartEnded,
    PartGrew,
    PartStarted,
    ProviderSpec,
    Reply,
    ReplyStarted,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_core.contracts.conversation import Citation
from gateway_filters.guarded import GuardedFilter
from gateway_filters.window import LONGEST_CALL, Window

CALL = Call(kind=Kind.LLM, format="openai", model="m", stream=True, body=b"")
TARGET = Target(ProviderSpec(id="v", name="V", base_url="https://v.example"), Model("m"))
Change = Callable[[StreamEvent], StreamEvent]


class Rewriting:
    """A filter that does the same to every event, and keeps what it has seen."""

    order, required, timeout = 1, False, 5.0

    def __init__(self, change: Change = lambda event: event, look_ahead: int = 8) -> None:
        self.change, self.look_ahead = change, look_ahead
        self.seen: list[Sequence[StreamEvent]] = []

    def open(self, call: Call, target: Target) -> "Rewriting":
        return self

    async def reply(self, reply: Reply) -> Reply:
        return reply

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        self.seen.append(events)
        return [self.change(event) for event in events]


def hide(event: StreamEvent) -> StreamEvent:
    """No digits, found as a whole of four."""
    if isinstance(event, PartGrew):
        return replace(event, text=re.sub(r"\d{4}", "****", event.text))
    return event


def window_of(each: Rewriting) -> Window:
    check = GuardedFilter("test", each, lambda failed: None).open(CALL, TARGET)
    assert check is not None
    return Window(check)


def pass_through(each: Rewriting, pieces: Sequence[Sequence[StreamEvent]]) -> list[StreamEvent]:
    window = window_of(each)

    async def run() -> list[StreamEvent]:
        given = [event for piece in pieces for event in await window.move(piece, is_last=False)]
        return [*given, *await window.move((), is_last=True)]

    return asyncio.run(run())


def text_of(events: Sequence[StreamEvent], index: int = 0) -> str:
    grown = (event for event in events if isinstance(event, PartGrew))
    return "".join(event.text for event in grown if event.index == index)


def stream_of(text: str) -> list[StreamEvent]:
    begin: list[StreamEvent] = [ReplyStarted("i", "m"), PartStarted(0, Text(text=""))]
    grown = [PartGrew(0, each) for each in text]
    return [*begin, *grown, PartEnded(0), ChoiceEnded("stop")]


@given(st.text("a1", max_size=60), st.lists(st.integers(1, 9), max_size=40))
def test_a_pattern_is_found_however_a_stream_is_cut(text: str, cuts: list[int]) -> None:
    events, pieces = stream_of(text), []
    while events:
        size = cuts.pop() if cuts else len(events)
        pieces.append(events[:size])
        events = events[size:]

    given_on = pass_through(Rewriting(hide), pieces)

    assert not re.search(r"\d{4}", text_of(given_on))
    assert len(text_of(given_on)) == len(text)
    kinds = [type(event) for event in given_on if not isinstance(event, PartGrew)]
    assert kinds == [ReplyStarted, PartStarted, PartEnded, ChoiceEnded]


def test_no_more_is_held_back_than_was_declared() -> None:
    each = Rewriting(look_ahead=8)
    window = window_of(each)

    async def run() -> list[int]:
        begin = [ReplyStarted("i", "m"), PartStarted(0, Text(text=""))]
        await window.move(begin, is_last=False)
        waiting, most = 0, []
        for _ in range(200):
            given_on = await window.move([PartGrew(0, "abc")], is_last=False)
            waiting += 3 - len(text_of(given_on))
            most.append(waiting)
        return most

    assert max(asyncio.run(run())) <= 2 * 8 + 3


def test_without_a_look_ahead_text_goes_on_at_once() -> None:
    each = Rewriting(look_ahead=0)

    assert len(pass_through(each, [[event] for event in stream_of("abc")])) == 7
    assert len(each.seen) == 5


def test_a_tool_call_is_shown_once_it_is_whole() -> None:
    each = Rewriting()
    call = ToolCall(id="c", name="f")
    events = [
        ReplyStarted("i", "m"),
        PartStarted(0, Text(text="")),
        PartGrew(0, "Let me look."),
        PartStarted(1, call),
        *(PartGrew(1, letter) for letter in '{"city":"Paris, in France"}'),
        PartStarted(2, call),
        PartGrew(2, "{}"),
        PartEnded(2),
        PartEnded(1),
        PartEnded(0),
        ChoiceEnded("tool_calls"),
    ]

    given_on = pass_through(each, [[event] for event in events])

    assert text_of(given_on, 1) == '{"city":"Paris, in France"}'
    grown = [event for event in given_on if isinstance(event, PartGrew) and event.index == 1]
    assert len(grown) == 1
    started = [event.index for event in given_on if isinstance(event, PartStarted)]
    assert started == [0, 1, 2]
    order = [type(event).__name__ for event in given_on if getattr(event, "index", None) == 1]
    assert order == ["PartStarted", "PartGrew", "PartEnded"]
    shown = [event for events in each.seen for event in events if isinstance(event, PartStarted)]
    assert [event.index for event in shown] == [0, 1, 2]


def test_a_tool_call_without_an_end_in_sight_is_not_held_back_for_ever() -> None:
    begin = [ReplyStarted("i", "m"), PartStarted(0, ToolCall(id="c", name="f"))]
    window = window_of(Rewriting())

    async def run() -> str:
        await window.move(begin, is_last=False)
        long = await window.move([PartGrew(0, "x" * (LONGEST_CALL + 1))], is_last=False)
        return text_of(long)

    assert len(asyncio.run(run())) == LONGEST_CALL + 1 - 8


def test_what_stands_between_two_texts_of_a_part_stays_there() -> None:
    cited = CitationAdded(0, Citation(url="https://a.example"))
    usage = UsageReported(Usage(input_tokens=1, output_tokens=2))
    events = [*stream_of("before")[:-2], cited, usage, *stream_of("after")[2:]]

    given_on = pass_through(Rewriting(), [[event] for event in events])

    middle = given_on.index(cited)
    assert text_of(given_on[:middle]) == "before"
    assert text_of(given_on[middle:]) == "after"
    assert usage in given_on


@pytest.mark.parametrize(
    "change",
    [
        lambda event: None,
        lambda event: replace(event, index=7) if isinstance(event, PartGrew) else event,
        lambda event: replace(event, text=7) if isinstance(event, PartGrew) else event,
        lambda event: PartEnded(0) if isinstance(event, PartStarted) else event,
        lambda event: 1 / 0,
    ],
    ids=["nothing", "another part", "no text", "another event", "raises"],
)
def test_a_filter_that_breaks_the_rules_is_passed_over(change: Change) -> None:
    events = stream_of("It is 1234 o'clock.")

    given_on = pass_through(Rewriting(change), [[event] for event in events])

    assert text_of(given_on) == "It is 1234 o'clock."
    assert len(given_on) - len(events) <= 0


def test_one_that_is_required_ends_the_answer() -> None:
    each = Rewriting(lambda event: 1 / 0)  # type: ignore[arg-type, return-value]
    each.required = True

    with pytest.raises(GatewayError, match="A required check could not be made"):
        pass_through(each, [stream_of("hello")])


def test_one_that_hangs_is_passed_over_in_time() -> None:
    class Hanging(Rewriting):
        timeout = 0.01

        async def events(
            self, events: Sequence[StreamEvent], *, is_last: bool
        ) -> Sequence[StreamEvent]:
            await asyncio.Event().wait()
            return events

    assert text_of(pass_through(Hanging(), [stream_of("hello")])) == "hello"
