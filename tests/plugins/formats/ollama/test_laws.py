"""Laws: reading what was written changes nothing, and no stream is ever malformed."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from gateway_format_ollama import OLLAMA
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace
from ollama._types import ChatRequest

from gateway_core import (
    BadRequest,
    Call,
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    Output,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ProviderSpec,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Sampling,
    StreamEvent,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation
from gateway_formats.ndjson import escape_line_separators

assert OLLAMA.client is not None
assert OLLAMA.vendor is not None
assert OLLAMA.grammar is not None
CLIENT, VENDOR, GRAMMAR = OLLAMA.client, OLLAMA.vendor, OLLAMA.grammar
TARGET = Target(ProviderSpec(id="box", name="Box", format="ollama"), Model("gemma3"))

QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

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
extras = st.dictionaries(names.map(lambda name: f"x_{name}"), raw_objects, max_size=2)
arguments = objects.map(lambda value: escape_line_separators(msgspec.json.encode(value)).decode())
images = st.sampled_from(
    [("iVBORw0KGgoAAAA=", "image/png"), ("/9j/4AAQ", "image/jpeg"), ("AAAA", None)]
).map(lambda pair: Media(kind="image", data=pair[0], media_type=pair[1]))
call_ids = names.map(lambda name: f"call-{name}")
texts = some.map(lambda text: Text(text=text))
thoughts = some.map(lambda text: Reasoning(text=text))
calls = st.builds(ToolCall, id=call_ids, name=names, arguments=arguments, extra=extras)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(strategy, max_size=1)


def turn(role: Any, *pieces: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[Turn]:
    parts = st.tuples(*pieces).map(lambda found: tuple(part for each in found for part in each))
    return st.builds(Turn, st.just(role), parts, extra=extras)


results = st.builds(
    ToolResult,
    call_id=call_ids,
    name=names,
    content=st.tuples(texts) | st.tuples(images) | st.tuples(texts, images) | st.just(()),
)
turns = st.one_of(
    turn("user", optional(texts), st.lists(images, max_size=2)),
    turn("assistant", optional(thoughts), optional(texts), st.lists(calls, max_size=2)),
    turn("user", results.map(lambda part: [part])),
)
tools = st.builds(Tool, name=names, description=st.none() | words, schema=raw_objects, extra=extras)
floats = st.none() | st.floats(0, 2, width=32)
samplings = st.builds(
    Sampling,
    max_tokens=st.none() | st.integers(1, 10**6),
    temperature=floats,
    top_p=floats,
    top_k=st.none() | st.integers(0, 500),
    min_p=floats,
    seed=st.none() | st.integers(-(2**62), 2**62),
    stop=st.lists(words, max_size=2).map(tuple),
    presence_penalty=floats,
    frequency_penalty=floats,
    logprobs=st.none() | st.booleans(),
    top_logprobs=st.none() | st.integers(0, 20),
)
thinkings = st.none() | st.one_of(
    st.sampled_from([Thinking(enabled=True, show=True), Thinking(enabled=False)]),
    st.builds(
        Thinking,
        enabled=st.just(True),
        effort=st.sampled_from(["low", "medium", "high", "max"]),
        show=st.just(True),
    ),
)
conversations = st.builds(
    Conversation,
    instructions=optional(texts).map(tuple),
    turns=st.lists(turns, min_size=1, max_size=4).map(tuple),
    tools=st.lists(tools, max_size=2).map(tuple),
    sampling=samplings,
    thinking=thinkings,
    output=st.none() | st.just(Output()) | st.builds(Output, schema=raw_objects),
    stream=st.booleans(),
    model=st.just("gemma3"),
    dialect=st.just("ollama"),
    extra=extras,
)


def read_request(body: bytes) -> Conversation:
    call = Call(kind=Kind.LLM, format="ollama", model="", stream=True, body=body)
    return CLIENT.read_request(call)


@QUICK
@given(conversations)
def test_reading_a_written_request_changes_nothing(conversation: Conversation) -> None:
    losses = Losses()

    assert read_request(VENDOR.write_request(conversation, TARGET, losses)) == conversation
    assert not losses


foreign_parts = st.one_of(
    texts,
    images,
    st.just(Media(kind="image", url="https://a/b.png")),
    st.just(Media(kind="document", text="Milk", name="list")),
    st.builds(Refusal, text=words),
    st.builds(Reasoning, text=words, signature=st.none() | names, origin=st.just("maker")),
    st.builds(ToolCall, id=words, name=names, arguments=words, custom=st.booleans()),
    st.builds(ToolResult, call_id=words, content=st.lists(texts | images, max_size=2).map(tuple)),
    st.just(Foreign(dialect="other", type="t", raw=Raw(b"{}"))),
)
foreign_turns = st.builds(
    Turn,
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(foreign_parts, max_size=4).map(tuple),
)


@QUICK
@given(st.lists(foreign_turns, min_size=1, max_size=4), st.lists(tools, max_size=1))
def test_any_conversation_makes_a_request_that_the_library_knows(
    turns: list[Turn], tools: list[Tool]
) -> None:
    conversation = Conversation(turns=tuple(turns), tools=tuple(tools), dialect="other")
    try:
        body = VENDOR.write_request(conversation, TARGET, Losses())
    except BadRequest:
        return

    received = ChatRequest.model_validate_json(body)
    assert received.messages
    read_request(body)


usages = st.builds(Usage, input_tokens=st.integers(0, 10**6), output_tokens=st.integers(0, 10**6))
finishes = st.sampled_from(["stop", "length", "content_filter", "refusal", "pause", "error"])
plain_calls = st.builds(ToolCall, id=call_ids, name=names, arguments=arguments)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    parts = [
        *draw(optional(thoughts)),
        *draw(optional(texts)),
        *draw(st.lists(plain_calls, max_size=2, unique_by=lambda call: call.id)),
    ]
    natural = "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
    finish = draw(finishes)
    return Reply(
        id="",
        model=draw(some),
        created=draw(st.integers(0, 2**32)),
        choices=(Choice(parts=tuple(parts), finish=natural if finish == "stop" else finish),),
        usage=draw(st.none() | usages),
    )


def read_stream(stream: bytes, places: Sequence[int] = ()) -> list[StreamEvent]:
    reader = VENDOR.stream_reader()
    events: list[StreamEvent] = []
    for start, end in pairwise([0, *sorted(places), len(stream)]):
        events += reader.feed(stream[start:end])
    return [*events, *reader.close()]


def write_stream(batches: Sequence[Sequence[StreamEvent]]) -> bytes:
    writer = CLIENT.stream_writer(Conversation(model="asked"), Losses())
    return b"".join(writer.feed(batch) for batch in batches) + writer.close()


@QUICK
@given(replies())
def test_reading_a_written_reply_changes_nothing(reply: Reply) -> None:
    written = CLIENT.write_reply(reply, Conversation(), Losses())

    assert replace(VENDOR.read_reply(written), id="") == reply


@QUICK
@given(replies(), st.data())
def test_reading_a_written_stream_changes_nothing(reply: Reply, data: st.DataObject) -> None:
    written = write_stream([unfold(reply)])
    places = data.draw(st.lists(st.integers(0, len(written)), max_size=6))

    assert replace(gather(read_stream(written, places)), id="") == reply


any_parts = st.one_of(
    texts,
    st.just(Text(text="")),
    st.just(Refusal(text="")),
    st.builds(Reasoning, sealed=st.none() | names, origin=st.just("maker")),
    calls,
    st.builds(ToolCall, id=call_ids, name=names, signature=names, origin=st.just("maker")),
    images,
    st.just(Media(kind="audio", data="AAAA")),
    st.just(Foreign(dialect="other", type="server_tool", raw=Raw(b"{}"))),
)
LOGPROBS = Raw(b'{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}]}')


@st.composite
def life(draw: st.DrawFn, index: int, choice: int) -> list[StreamEvent]:
    """One part from start to end."""
    part = draw(any_parts)
    events: list[StreamEvent] = [PartStarted(index, part, choice)]
    if isinstance(part, Text | Refusal | Reasoning | ToolCall):
        grown = draw(st.lists(st.tuples(words, st.sampled_from([None, LOGPROBS])), max_size=3))
        events += [PartGrew(index, text, choice, logprobs) for text, logprobs in grown]
    if isinstance(part, Text) and draw(st.booleans()):
        events.append(CitationAdded(index, Citation(url="http://x"), choice))
    if isinstance(part, Reasoning) and draw(st.booleans()):
        events.append(PartSealed(index, draw(names), None, choice, "maker"))
    return [*events, PartEnded(index, choice)]


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """Whatever contracts/events.py allows: parts that overlap, several choices, no usage."""
    lives = [
        draw(life(index, choice))
        for choice in range(draw(st.integers(1, 2)))
        for index in range(draw(st.integers(0, 4)))
    ]
    order = draw(st.permutations([i for i, events in enumerate(lives) for _ in events]))
    left = [iter(events) for events in lives]
    events: list[StreamEvent] = [ReplyStarted("r1", "m", draw(st.none() | st.integers(0, 2**40)))]
    events += [next(left[i]) for i in order]
    events += [UsageReported(usage) for usage in draw(st.lists(usages, max_size=1))]
    events.append(ChoiceEnded(draw(finishes | st.just("tool_calls")), 0, draw(st.none() | words)))
    return events


@QUICK
@given(streams(), st.data())
def test_every_stream_is_grammatical_however_it_is_batched(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    batches = [events[a:b] for a, b in pairwise([0, *places, len(events)])]

    stream = write_stream(batches)

    assert find_violation(GRAMMAR, stream) is None
    assert stream == write_stream([[event] for event in events])
    gather(read_stream(stream))


@QUICK
@given(streams(), st.data())
def test_a_failure_at_any_point_ends_the_stream_with_an_error(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(events)))
    broken = [*events[:place], ReplyFailed("out of luck\nreally")]

    stream = write_stream([broken, events[place:]])

    assert find_violation(GRAMMAR, stream) is None
    assert stream.endswith(b'{"error":"out of luck\\nreally"}\n')
    assert read_stream(stream)[-1] == ReplyFailed("out of luck\nreally")


@QUICK
@given(streams(), st.data())
def test_a_stream_cut_short_is_a_failure_for_reader_and_relay(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    stream = write_stream([events])
    place = data.draw(st.integers(0, len(stream) - 2))
    call = Call(kind=Kind.LLM, format="ollama", model="", stream=True, body=b"{}")
    relay = VENDOR.relay(call, TARGET, {})

    passed = relay.feed(stream[:place]) + relay.close()

    assert isinstance(read_stream(stream[:place])[-1], ReplyFailed)
    assert relay.failure is not None
    assert find_violation(GRAMMAR, passed) is None


@QUICK
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_nothing_a_vendor_sends_makes_a_reader_or_a_relay_raise(head: bytes, tail: bytes) -> None:
    line = b'{"model":"m","message":{"role":"assistant","content":"a"},"done":false}\n'
    call = Call(kind=Kind.LLM, format="ollama", model="", stream=True, body=b"{}")
    relay = VENDOR.relay(call, TARGET, {})

    events = read_stream(head + line + tail)
    passed = relay.feed(head + line) + relay.feed(tail) + relay.close()

    assert isinstance(events[-1], ReplyFailed)
    assert find_violation(GRAMMAR, passed) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"\xff", b'"a"', b"[" * 100_000])
def test_no_body_makes_the_reader_of_answers_raise_anything_but_an_upstream_error(
    body: bytes,
) -> None:
    with pytest.raises(Exception, match="could not be read"):
        VENDOR.read_reply(body)
