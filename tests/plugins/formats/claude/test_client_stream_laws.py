"""Laws of streams: any order of events that is allowed gives a stream that is well formed."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from gateway_format_claude import CLAUDE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
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
    StreamEvent,
    Target,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

assert CLAUDE.client is not None
assert CLAUDE.vendor is not None
CLIENT, VENDOR = CLAUDE.client, CLAUDE.vendor
TARGET = Target(ProviderSpec(id="anthropic", name="A", format="claude"), Model("m"))

QUICK = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
starts: st.SearchStrategy[AnyPart] = st.sampled_from(
    [
        Text(text=""),
        Text(text="already", signature="s", origin="g"),
        Refusal(text=""),
        Reasoning(),
        Reasoning(sealed="x", origin="v"),
        Reasoning(id="rs", summary=True),
        ToolCall(id="t", name="n"),
        ToolCall(id="", name="n", signature="s", origin="g"),
        ToolCall(id="c", name="sh", custom=True),
        Media(kind="image", data="QQ=="),
        Foreign(dialect="gemini", type="x", raw=Raw(b"{}")),
        Foreign(dialect="claude", type="server_tool_use", raw=Raw(b'{"type":"server_tool_use"}')),
    ]
)
usages = st.builds(UsageReported, st.builds(Usage, input_tokens=st.integers(0, 9)))


@st.composite
def parts_of(draw: st.DrawFn, index: int, choice: int) -> list[StreamEvent]:
    part = draw(starts)
    events: list[StreamEvent] = [PartStarted(index, part, choice)]
    if not isinstance(part, Media | Foreign):
        events += [PartGrew(index, word, choice) for word in draw(st.lists(words, max_size=3))]
    if isinstance(part, Text) and draw(st.booleans()):
        events.append(CitationAdded(index, Citation(url="https://a"), choice))
    if isinstance(part, Reasoning) and draw(st.booleans()):
        signature = draw(st.sampled_from([None, "sig"]))
        sealed = None if signature else "enc"
        events.append(PartSealed(index, signature, sealed, choice, "v"))
    return [*events, PartEnded(index, choice)]


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """Whole streams in the order that readers promise; parts may overlap."""
    lanes = [
        draw(parts_of(index, choice))
        for choice in range(draw(st.sampled_from([1, 1, 2])))
        for index in range(draw(st.integers(0, 3)))
    ]
    chance = random.Random(draw(st.integers(0, 999)))
    middle: list[StreamEvent] = []
    begun = 0
    while any(lanes):
        # Parts start in the order of their numbers, and then go on as they like.
        ready = [lane for lane in lanes[: begun + 1] if lane]
        lane = chance.choice(ready)
        if begun < len(lanes) and lane is lanes[begun]:
            begun += 1
        middle.append(lane.pop(0))
    middle += draw(st.lists(usages, max_size=1))
    choices = {getattr(event, "choice", 0) for event in middle} | {0}
    ends = [
        ChoiceEnded(draw(st.sampled_from(["stop", "length", "tool_calls", "refusal"])), choice)
        for choice in sorted(choices)
    ]
    beginning = ReplyStarted("r", "m")
    return [beginning, *draw(st.lists(usages, max_size=1)), *middle, *ends, *draw(st.lists(usages))]


def written(batches: Sequence[Sequence[StreamEvent]]) -> bytes:
    writer = CLIENT.stream_writer(Conversation(), Losses())
    return b"".join(writer.feed(batch) for batch in batches) + writer.close()


def well_formed(stream: bytes) -> bool:
    assert CLAUDE.grammar is not None
    return find_violation(CLAUDE.grammar, stream) is None


@QUICK
@given(streams(), st.integers(0, 999))
def test_any_allowed_order_in_any_batches_is_well_formed(
    events: list[StreamEvent], seed: int
) -> None:
    chance = random.Random(seed)
    cuts = sorted(chance.sample(range(len(events) + 1), k=min(3, len(events))))
    edges = [0, *cuts, len(events)]

    whole = written([events])
    pieces = written([events[a:b] for a, b in pairwise(edges)])
    singles = written([[event] for event in events])

    assert all(map(well_formed, (whole, pieces, singles)))
    assert without_early_counts(whole) == without_early_counts(pieces)
    assert without_early_counts(whole) == without_early_counts(singles)


def without_early_counts(stream: bytes) -> list[Any]:
    """What a stream says, but for the counts at its beginning, which may come too late for it."""
    output = [json.loads(line[6:]) for line in stream.split(b"\n") if line.startswith(b"data: ")]
    output[0].get("message", {}).pop("usage", None)
    return output


@QUICK
@given(streams(), st.data())
def test_a_failure_at_any_point_is_well_formed(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    point = data.draw(st.integers(0, len(events)))

    stream = written([events[:point], [ReplyFailed("gone")], events[point:]])

    assert well_formed(stream)
    assert stream.endswith(b'"message":"gone"}}\n\n')


@QUICK
@given(streams())
def test_an_end_at_any_point_is_well_formed(events: list[StreamEvent]) -> None:
    for point in range(len(events)):
        assert well_formed(written([events[:point]]))


texts = st.builds(Text, text=words)
calls = st.builds(
    ToolCall,
    id=st.from_regex("[a-z]{1,5}", fullmatch=True),
    name=st.just("n"),
    arguments=st.dictionaries(words, words, max_size=2).map(json.dumps),
)
own = st.just(
    Foreign(dialect="claude", type="compaction", raw=Raw(b'{"type":"compaction","content":"x"}'))
)


@QUICK
@given(st.lists(texts | calls | own | st.builds(Reasoning, text=words), max_size=4))
def test_a_stream_that_was_written_is_read_as_it_was(parts: list[AnyPart]) -> None:
    finish = "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
    events: list[StreamEvent] = [ReplyStarted("msg_r", "m")]
    for index, part in enumerate(parts):
        events += [replace_index(event, index) for event in part_events(part)]
    events += [ChoiceEnded(finish), UsageReported(Usage(input_tokens=3, output_tokens=4))]  # type: ignore[arg-type]

    reader = VENDOR.stream_reader()
    read = [*reader.feed(written([events])), *reader.close()]

    assert gather(read) == gather(events)


def part_events(part: AnyPart) -> Iterator[StreamEvent]:
    reply = Reply(id="", model="", choices=(Choice(parts=(part,)),))
    return (e for e in unfold(reply) if not isinstance(e, ReplyStarted | ChoiceEnded))


def replace_index(event: StreamEvent, index: int) -> StreamEvent:
    return replace(event, index=index) if hasattr(event, "index") else event


@QUICK
@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([b"\n\n", b"data: ", b"{", b"event: x\n"]))
)
def test_no_bytes_surprise_the_readers(chunks: list[bytes]) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    reader, relay = VENDOR.stream_reader(), VENDOR.relay(call, TARGET, {})
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    passed = b"".join(relay.feed(chunk) for chunk in chunks)

    events += reader.close()
    passed += relay.close()

    assert isinstance(events[-1], ReplyFailed)
    assert relay.failure is not None
    assert b"event: error" in passed


@QUICK
@given(streams(), st.data())
def test_a_damaged_stream_is_never_passed_on_as_whole(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    stream = bytearray(written([events]))
    frames = bytes(stream).split(b"\n\n")[:-1]
    lost = data.draw(st.integers(0, len(frames) - 1))
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    relay = VENDOR.relay(call, TARGET, {})

    left = [frame + b"\n\n" for index, frame in enumerate(frames) if index != lost]
    passed = relay.feed(b"".join(left)) + relay.close()

    assert well_formed(passed)
    # An end of a block holds nothing, so the relay writes one that is missing.
    is_harmless = b"content_block_delta" in frames[lost] or b"content_block_stop" in frames[lost]
    assert relay.failure is not None or is_harmless
