"""A whole reply is a folded stream, and a stream an unfolded reply."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Choice,
    ChoiceEnded,
    Citation,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
)
from gateway_formats.fold import (
    Gatherer,
    as_error,
    as_failure,
    default_finish,
    gather,
    unfold,
)

texts = st.text(max_size=12)
maybe = st.none() | texts
raws = st.builds(lambda value: Raw(msgspec.json.encode(value)), texts)
extras = st.dictionaries(texts, raws, max_size=2)
signed = {"signature": maybe, "origin": texts, "extra": extras}
citations = st.builds(
    Citation, url=maybe, title=maybe, start=st.none() | st.integers(0, 9), raw=st.none() | raws
)
parts: st.SearchStrategy[AnyPart] = st.one_of(
    st.builds(Text, text=texts, citations=st.lists(citations, max_size=2).map(tuple), **signed),
    st.builds(Refusal, text=texts, **signed),
    st.builds(Reasoning, text=texts, sealed=maybe, id=maybe, summary=st.booleans(), **signed),
    st.builds(ToolCall, id=texts, name=texts, arguments=texts, custom=st.booleans(), **signed),
    st.builds(Media, kind=st.just("image"), data=maybe, url=maybe),
    st.builds(Foreign, dialect=texts, type=texts, raw=raws),
)
logprobs = st.builds(
    lambda rows: Raw(msgspec.json.encode({"content": rows})),
    st.lists(st.fixed_dictionaries({"token": texts}), max_size=3),
)
finishes = st.sampled_from(["stop", "length", "tool_calls", "refusal", "pause"])


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """Log probabilities stand beside a part: they are of its tokens."""
    held = tuple(draw(st.lists(parts, max_size=4)))
    return Choice(
        parts=held,
        finish=draw(finishes),
        stop_sequence=draw(maybe),
        logprobs=draw(st.none() | logprobs) if held else None,
        extra=draw(extras),
    )


replies = st.builds(
    Reply,
    id=texts,
    model=texts,
    choices=st.lists(choices(), max_size=3).map(tuple),
    usage=st.none() | st.builds(Usage, input_tokens=st.integers(0, 9)),
    created=st.none() | st.integers(0, 9),
    extra=extras,
)


def plain(value: Any) -> bytes:
    """A value as JSON, for raw members are compared by what they hold."""
    return msgspec.json.encode(value)


@given(replies)
def test_a_reply_is_its_own_stream_folded(reply: Reply) -> None:
    folded = gather(unfold(reply))

    assert plain(folded) == plain(reply)
    assert folded.usage == reply.usage


@given(replies, st.data())
def test_events_may_come_in_any_portions(reply: Reply, data: st.DataObject) -> None:
    events, gatherer = unfold(reply), Gatherer()

    while events:
        count = data.draw(st.integers(1, len(events)))
        gatherer.feed(events[:count])
        events = events[count:]

    assert plain(gatherer.reply()) == plain(reply)


@given(replies)
def test_every_part_is_started_before_it_grows_and_ended_once(reply: Reply) -> None:
    open_parts: set[tuple[int, int]] = set()
    ended: list[tuple[int, int]] = []

    for event in unfold(reply):
        match event:
            case PartStarted(index, _, choice):
                open_parts.add((choice, index))
            case PartGrew(index, _, choice):
                assert (choice, index) in open_parts
            case PartEnded(index, choice):
                open_parts.remove((choice, index))
                ended.append((choice, index))

    assert not open_parts
    assert len(ended) == sum(len(choice.parts) for choice in reply.choices)


def test_parts_that_overlap_keep_their_places() -> None:
    reply = gather(
        [
            ReplyStarted("r", "m"),
            PartStarted(0, ToolCall(id="a", name="f")),
            PartStarted(1, ToolCall(id="b", name="g", arguments="{")),
            PartGrew(0, '{"x":'),
            PartGrew(1, "}"),
            PartGrew(0, "1}"),
            PartEnded(0),
            PartEnded(1),
            ChoiceEnded("tool_calls"),
        ]
    )

    assert [part.arguments for part in reply.choices[0].parts] == ['{"x":1}', "{}"]  # type: ignore[union-attr]


def test_a_seal_that_comes_late_is_on_its_part() -> None:
    reply = gather(
        [
            ReplyStarted("r", "m"),
            PartStarted(0, Reasoning()),
            PartGrew(0, "hm"),
            PartSealed(0, signature="s", origin="acme"),
            PartStarted(1, Reasoning()),
            PartSealed(1, sealed="x", origin="acme"),
            PartStarted(2, Text(text="")),
            PartSealed(2, sealed="not for a text"),
            ChoiceEnded("stop"),
        ]
    )

    assert reply.choices[0].parts == (
        Reasoning(text="hm", signature="s", origin="acme"),
        Reasoning(sealed="x", origin="acme"),
        Text(text=""),
    )


def test_log_probabilities_are_strung_together() -> None:
    pieces = [b'{"content":[1,2],"refusal":null}', b'{"content":[3],"refusal":[4]}']
    reply = gather(
        [ReplyStarted("r", "m"), PartStarted(0, Text(text=""))]
        + [PartGrew(0, "x", 0, Raw(piece)) for piece in pieces]
        + [ChoiceEnded("stop")]
    )

    assert bytes(reply.choices[0].logprobs or b"") == b'{"content":[1,2,3],"refusal":[4]}'


def test_a_stream_that_failed_or_never_began_is_an_error() -> None:
    with pytest.raises(UpstreamError, match="empty answer"):
        gather([])
    with pytest.raises(UpstreamError, match="Broke") as caught:
        gather([ReplyStarted("r", "m"), ReplyFailed("Broke", "k", "c", 529, 3.0)])
    error = caught.value
    assert (error.kind, error.code, error.status, error.retry_after) == ("k", "c", 529, 3.0)


@given(
    st.builds(
        ReplyFailed,
        texts,
        maybe,
        texts,
        st.integers(400, 599),
        st.none() | st.floats(0, 1e6),
    )
)
def test_a_failure_and_its_error_are_one(failed: ReplyFailed) -> None:
    assert as_failure(as_error(failed)) == failed


def test_an_answer_with_a_tool_call_ends_for_it() -> None:
    call = ToolCall(id="a", name="f")

    assert default_finish([Text(text="x"), call]) == "tool_calls"
    assert default_finish([Text(text="x")]) == "stop"
    assert default_finish([]) == "stop"
