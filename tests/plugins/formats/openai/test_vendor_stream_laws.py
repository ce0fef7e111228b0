"""Any stream of events is written as a well-formed stream, whole or broken."""

from collections.abc import Callable, Iterable

from gateway_format_openai import CHAT, COMPLETIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    Conversation,
    Finish,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Thinking,
    Tool,
    ToolCall,
    Usage,
    UsageReported,
    WireFormat,
)
from gateway_formats.grammar import find_violation

FINISHES: tuple[Finish, ...] = ("stop", "length", "tool_calls", "refusal", "pause", "error")
Disorder = Callable[[Iterable[StreamEvent]], str | None]

blanks = st.text(max_size=4)
names = st.text("abcdefgh_", min_size=1, max_size=6)
citations = st.builds(Citation, url=st.just("https://x"), title=st.none() | blanks)
logprobs = st.just(Raw(b'{"content":[{"token":"a","logprob":-1.5,"top_logprobs":[]}]}'))
usages = st.builds(Usage, input_tokens=st.integers(1, 9), output_tokens=st.integers(1, 9))
media = st.sampled_from(
    [
        Media(kind="image", data="AA=="),
        Media(kind="image", url="https://x"),
        Media(kind="audio", data="AA=="),
        Media(kind="video", url="https://x"),
        Media(kind="document", text="words"),
    ]
)

anything = st.one_of(
    st.builds(Text, text=blanks, citations=st.lists(citations, max_size=1).map(tuple)),
    st.builds(Refusal, text=blanks),
    st.builds(Reasoning, text=blanks, sealed=st.none() | names, origin=names),
    st.builds(
        ToolCall,
        id=names,
        name=names,
        arguments=st.sampled_from(["", "{}", "{"]),
        custom=st.booleans(),
        signature=st.none() | names,
        origin=names,
    ),
    media,
    st.builds(Foreign, dialect=names, type=names, raw=st.just(Raw(b"{}"))),
)
grown = (Text, Refusal, Reasoning, ToolCall)


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """Any events in the promised order, parts of several choices by turns."""
    queues = [draw(part_events(choice)) for choice in range(draw(st.integers(1, 3)))]
    events: list[StreamEvent] = [
        ReplyStarted(draw(blanks), draw(blanks), draw(st.none() | st.just(7)))
    ]
    while any(queues):
        if draw(st.booleans()):
            events.append(UsageReported(draw(usages)))
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        events.append(queue.pop(0))
    return events


def growth(index: int, choice: int) -> st.SearchStrategy[list[PartGrew]]:
    one = st.builds(PartGrew, st.just(index), blanks, st.just(choice), st.none() | logprobs)
    return st.lists(one, max_size=2)


@st.composite
def part_events(draw: st.DrawFn, choice: int) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    held: list[StreamEvent] = []
    for index in range(draw(st.integers(0, 3))):
        part = draw(anything)
        events.append(PartStarted(index, part, choice))
        if isinstance(part, grown):
            events += draw(growth(index, choice))
        if isinstance(part, Text):
            events += draw(
                st.lists(
                    st.builds(CitationAdded, st.just(index), citations, st.just(choice)), max_size=1
                )
            )
        if draw(st.booleans()):
            events.append(
                PartSealed(index, draw(st.none() | names), draw(st.none() | names), choice, "o")
            )
        (held if draw(st.booleans()) else events).append(PartEnded(index, choice))
    return [*events, *held, ChoiceEnded(draw(st.sampled_from(FINISHES)), choice)]


askeds = st.sampled_from(
    [
        Conversation(),
        Conversation(stream_usage=False, thinking=Thinking(show=False)),
        Conversation(tools=(Tool(name="a", dialect="openai-functions"),)),
        Conversation(tools=tuple(Tool(name=n, custom=True) for n in "abcdefgh")),
    ]
)


def written_by(
    wire: WireFormat, received: Conversation, batches: Iterable[list[StreamEvent]]
) -> bytes:
    assert wire.client is not None
    writer = wire.client.stream_writer(received, Losses())
    return b"".join(writer.feed(batch) for batch in batches) + writer.close()


@given(streams(), askeds, st.data())
@settings(max_examples=60)
def test_any_stream_is_well_formed_however_it_is_batched(
    disorder: Disorder, events: list[StreamEvent], received: Conversation, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    assert disorder(events) is None

    for wire in (CHAT, COMPLETIONS):
        assert wire.grammar is not None
        whole = written_by(wire, received, [events])
        assert find_violation(wire.grammar, whole) is None
        assert written_by(wire, received, [events[:cut], events[cut:]]) == whole
        assert written_by(wire, received, [[event] for event in events]) == whole


@given(streams(), askeds)
@settings(max_examples=40)
def test_what_any_stream_is_written_as_can_be_read(
    disorder: Disorder, events: list[StreamEvent], received: Conversation
) -> None:
    assert CHAT.vendor is not None
    reader = CHAT.vendor.stream_reader()

    again = [*reader.feed(written_by(CHAT, received, [events])), *reader.close()]

    assert disorder(again) is None


@given(streams(), askeds)
@settings(max_examples=25)
def test_a_failure_at_any_point_leaves_a_well_formed_stream(
    events: list[StreamEvent], received: Conversation
) -> None:
    for end in range(len(events)):
        broken = [*events[:end], ReplyFailed("bad", status=429)]
        for wire in (CHAT, COMPLETIONS):
            assert wire.grammar is not None
            written = written_by(wire, received, [broken])
            assert find_violation(wire.grammar, written) is None
            assert written.endswith(b'"code":"rate_limit_exceeded"}}\n\n')
