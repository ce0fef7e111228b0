"""Laws of answers: reading what was written changes nothing, and no stream is malformed."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from gateway_format_openai_responses import ResponsesClient, ResponsesVendor
from gateway_format_openai_responses._dialect import DIALECT
from gateway_format_openai_responses.grammar import GRAMMAR
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Conversation,
    Foreign,
    GatewayError,
    Losses,
    Media,
    Output,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Sampling,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

CLIENT, VENDOR = ResponsesClient(), ResponsesVendor()
QUICK = settings(max_examples=100)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some = words.filter(bool)
names = st.text("abcdefgh_-0123", min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, json_values, max_size=3)
raw_objects = objects.map(lambda value: Raw(msgspec.json.encode(value)))
arguments = objects.map(lambda value: msgspec.json.encode(value).decode())
call_ids = names.map(lambda name: f"call-{name}")
citations = st.builds(
    lambda url, title, start, end: annotated(url, title, start, end),
    some,
    words,
    st.integers(0, 50),
    st.integers(0, 50),
)


def annotated(url: str, title: str, start: int, end: int) -> Citation:
    """A source as this dialect tells it."""
    produced = {
        "type": "url_citation",
        "url": url,
        "title": title,
        "start_index": start,
        "end_index": end,
    }
    return Citation(
        url=url,
        title=title or None,
        start=start,
        end=end,
        raw=Raw(msgspec.json.encode(produced)),
        dialect=DIALECT,
    )


refusals = st.builds(Refusal, text=words)
samplings = st.builds(
    Sampling, max_tokens=st.none() | st.integers(1, 10**6), temperature=st.none() | st.floats(0, 2)
)
outputs = st.one_of(
    st.none(),
    st.just(Output()),
    st.builds(
        Output,
        schema=raw_objects,
        name=names,
        description=st.none() | words,
        strict=st.none() | st.booleans(),
    ),
)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("input", "type", "role", "content", "text", "tools", "name", "call_id"),
                    *("output", "summary", "encrypted_content", "tool_choice", "format", "id"),
                    *("reasoning", "include", "arguments", "parameters", "instructions", "mode"),
                ]
            ),
            inner
            | st.sampled_from(
                [
                    *("message", "user", "assistant", "function", "function_call", "reasoning"),
                    *("input_text", "input_image", "namespace", "allowed_tools", "compaction"),
                ]
            ),
            max_size=4,
        )
    ),
    max_leaves=25,
)


reply_texts = st.builds(Text, text=words, citations=st.lists(citations, max_size=2).map(tuple))
reply_thoughts = st.builds(
    Reasoning,
    text=words,
    summary=st.booleans(),
    sealed=st.none() | names,
    signature=st.none() | names,
    origin=names,
)
reply_calls = st.one_of(
    st.builds(ToolCall, name=names, id=call_ids, arguments=arguments),
    st.builds(ToolCall, name=names, id=call_ids, arguments=words, custom=st.just(True)),
    st.builds(
        ToolCall, name=names, id=call_ids, arguments=arguments, signature=names, origin=names
    ),
)
own_items = names.map(
    lambda name: Foreign(
        dialect=DIALECT,
        type="web_search_call",
        raw=Raw(msgspec.json.encode({"type": "web_search_call", "id": name})),
    )
)
pictures = names.map(lambda name: Media(kind="image", data=name, media_type="image/png"))
reply_parts = st.one_of(reply_texts, refusals, reply_thoughts, reply_calls, own_items, pictures)
usages = st.none() | st.builds(
    Usage,
    input_tokens=st.integers(1, 10**6),
    output_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 100),
    cache_write_tokens=st.integers(0, 100),
    reasoning_tokens=st.integers(0, 100),
)
finishes = st.sampled_from(["stop", "length", "tool_calls", "content_filter", "refusal", "pause"])


def unique_calls(parts: Sequence[Any]) -> tuple[Any, ...]:
    found = []
    for number, part in enumerate(parts):
        fresh = replace(part, id=f"{part.id}-{number}") if isinstance(part, ToolCall) else part
        found.append(fresh)
    return tuple(found)


replies = st.builds(
    Reply,
    id=names.map(lambda name: f"resp_{name}"),
    model=names,
    created=st.integers(1, 2**31),
    usage=usages,
    choices=st.builds(
        Choice,
        parts=st.lists(reply_parts, max_size=5).map(unique_calls),
        finish=finishes,
    ).map(lambda choice: (choice,)),
)
received = st.builds(Conversation, model=st.just("m"), sampling=samplings, output=outputs)


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """The events of a reply, its parts grown in pieces and by turns."""
    reply = draw(replies)
    waiting = [_events_of(draw, index, part) for index, part in enumerate(reply.choices[0].parts)]
    events: list[StreamEvent] = [ReplyStarted(reply.id, reply.model, reply.created)]
    running: list[list[StreamEvent]] = []
    while waiting or running:
        if waiting and (not running or draw(st.booleans())):
            running.append(waiting.pop(0))
            count = _together(running[-1])
            events += running[-1][:count]
            del running[-1][:count]
        else:
            chosen = draw(st.integers(0, len(running) - 1))
            events.append(running[chosen].pop(0))
        running = [part for part in running if part]
    if reply.usage is not None:
        events.append(UsageReported(reply.usage))
    events.append(ChoiceEnded(reply.choices[0].finish))
    return events


def _together(events: list[StreamEvent]) -> int:
    """How many events come at once: an item of thinking shows that it has begun only when it
    grows, or when it is done."""
    first, second = events[:2]
    if not isinstance(first, PartStarted) or not isinstance(first.part, Reasoning):
        return 1
    return 2 if isinstance(second, PartGrew) else len(events)


def _events_of(draw: st.DrawFn, index: int, part: Any) -> list[StreamEvent]:
    choice = Choice(parts=(part,))
    events = [
        event
        for event in unfold(Reply(id="", model="", choices=(choice,)))
        if isinstance(event, PartStarted | PartGrew | CitationAdded | PartEnded)
    ]
    found: list[StreamEvent] = []
    for event in events:
        if isinstance(event, PartGrew) and event.text:
            at = draw(st.integers(0, len(event.text)))
            grown = [text for text in (event.text[:at], event.text[at:]) if text]
            found += (PartGrew(index, text) for text in grown)
        else:
            found.append(replace(event, index=index))
    if isinstance(part, Reasoning) and draw(st.booleans()):
        found.insert(len(found) - 1, PartSealed(index, "sig", None, 0, "acme"))
    return found


def written(
    events: Sequence[StreamEvent], conversation: Conversation, cuts: Sequence[int]
) -> bytes:
    writer = CLIENT.stream_writer(conversation, Losses())
    found, start = b"", 0
    for cut in [*sorted(cuts), len(events)]:
        found += writer.feed(events[start:cut])
        start = max(start, cut)
    return found + writer.close()


cuts = st.lists(st.integers(0, 40), max_size=4)


@QUICK
@given(streams(), received, cuts)
def test_a_stream_obeys_the_grammar_however_it_is_batched(
    events: list[StreamEvent], conversation: Conversation, places: list[int]
) -> None:
    stream = written(events, conversation, places)

    assert find_violation(GRAMMAR, stream) is None
    assert stream == written(events, conversation, [])


@QUICK
@given(streams(), received)
def test_its_final_object_is_what_a_whole_answer_would_be(
    events: list[StreamEvent], conversation: Conversation
) -> None:
    stream = written(events, conversation, [])

    final = json.loads(stream.split(b"data: ")[-1])["response"]
    whole = CLIENT.write_reply(gather(events), conversation, Losses())
    assert final == json.loads(whole)


@QUICK
@given(streams(), received)
def test_what_was_written_is_read_the_same_streamed_and_whole(
    events: list[StreamEvent], conversation: Conversation
) -> None:
    reply = gather(events)
    reader = VENDOR.stream_reader()

    streamed = gather([*reader.feed(written(events, conversation, [])), *reader.close()])
    whole = VENDOR.read_reply(CLIENT.write_reply(reply, conversation, Losses()))

    assert plain(streamed) == plain(replace(whole, dialect=""))
    assert reported(whole) == reported(reply)


def plain(value: Any) -> Any:
    if isinstance(value, Raw):
        return json.loads(bytes(value))
    if isinstance(value, msgspec.Struct):
        return type(value), {n: plain(getattr(value, n)) for n in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value


def reported(reply: Reply) -> Any:
    """What survives: everything but whose the proofs are, which is sealed away."""
    choice = reply.choices[0]
    parts: list[Any] = []
    for part in choice.parts:
        match part:
            case Reasoning():
                parts.append(("thought", part.text, part.summary and bool(part.text)))
            case ToolCall():
                parts.append(("call", part.name, part.arguments or "{}", part.custom))
            case Media():
                parts.append(("picture", part.data))
            case Text():
                parts.append(("text", part.text, len(part.citations)))
            case _:
                parts.append(plain(part))
    return parts, reply.usage, reply.model, reply.created, finish_of(choice)


def finish_of(choice: Choice) -> str:
    """Complete answers end as their parts say; the others as they were cut."""
    if choice.finish in ("length", "pause"):
        return "length"
    refused = any(isinstance(part, Refusal) for part in choice.parts)
    if choice.finish == "content_filter" or (choice.finish == "refusal" and not refused):
        return "content_filter"
    if any(isinstance(part, ToolCall) for part in choice.parts):
        return "tool_calls"
    return "refusal" if refused else "stop"


@QUICK
@given(streams(), received, st.integers(0, 60))
def test_a_failure_anywhere_gives_a_grammatical_stream(
    events: list[StreamEvent], conversation: Conversation, at: int
) -> None:
    broken = [*events[:at], ReplyFailed("broke", status=503), *events[at:]]

    stream = written(broken, conversation, [])

    assert find_violation(GRAMMAR, stream) is None
    assert stream.count(b"event: error\n") == 1
    assert b"response.completed" not in stream


@QUICK
@given(streams(), received, st.integers(0, 10**6), st.integers(0, 10**6))
def test_however_a_stream_is_cut_the_events_are_the_same(
    events: list[StreamEvent], conversation: Conversation, one: int, other: int
) -> None:
    stream = written(events, conversation, [])
    first, second = sorted((one % len(stream), other % len(stream)))
    whole, cut = VENDOR.stream_reader(), VENDOR.stream_reader()

    expected = [*whole.feed(stream), *whole.close()]
    found = [
        *cut.feed(stream[:first]),
        *cut.feed(stream[first:second]),
        *cut.feed(stream[second:]),
        *cut.close(),
    ]

    assert [plain(event) for event in found] == [plain(event) for event in expected]


@QUICK
@given(streams(), received, st.integers(0, 10**6))
def test_a_stream_that_was_damaged_never_raises(
    events: list[StreamEvent], conversation: Conversation, at: int
) -> None:
    stream = written(events, conversation, [])
    place = at % len(stream)
    damaged = stream[:place] + b"\x00}" + stream[place + 3 :]
    reader = VENDOR.stream_reader()

    found = [*reader.feed(damaged), *reader.close()]

    assert isinstance(found[-1], ChoiceEnded | ReplyFailed)


@QUICK
@given(anything)
def test_any_json_is_an_answer_or_an_error(body: Any) -> None:
    encoded = msgspec.json.encode(body)
    try:
        VENDOR.read_reply(encoded)
    except UpstreamError as error:
        assert error.message  # noqa: PT017 - either outcome is right, nothing else is
    refusal = VENDOR.read_error(500, {}, encoded)
    assert isinstance(refusal, GatewayError)
    assert refusal.message
