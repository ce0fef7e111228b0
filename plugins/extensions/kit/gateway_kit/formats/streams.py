"""Laws of streams: reading them, writing them, and the one from the other."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from gateway_core import (
    ChoiceEnded,
    Losses,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

from . import normal_form, sample_values
from .case import Law, check_each, expect, expect_equal, has_both, has_client, has_vendor, law
from .event_order import find_disorder
from .harness import FormatHarness, cut
from .replies import adds_up
from .strategies import cuts, places_in, replies, rubbish, streams


@law(
    "streams/folded",
    "a stream does not say what the whole answer says",
    "let both come from one place: write the streamed side and fold it for the other",
    has_both,
)
def folded(harness: FormatHarness) -> None:
    def check(reply: Reply) -> None:
        stream, _ = harness.write_stream([unfold(reply)])
        whole = harness.vendor.read_reply(harness.write_reply(reply)[0])
        expect_equal(
            normal_form.normalize_reply(gather(harness.read_stream(stream))),
            normal_form.normalize_reply(whole),
        )

    check_each(harness, replies(), check)


@law(
    "streams/written-and-read",
    "a stream whose parts overlap and grow in pieces reads differently than it was written",
    "tell parts apart by their index, add up their pieces, and let the last usage count",
    has_both,
)
def written_and_read(harness: FormatHarness) -> None:
    def check(actual: tuple[list[StreamEvent], list[int]]) -> None:
        events, places = actual
        places = sorted(place % (len(events) + 1) for place in places)
        bounds = [0, *places, len(events)]
        batches = [events[a:b] for a, b in pairwise(bounds)]
        stream, _ = harness.write_stream(batches)
        expect_equal(
            normal_form.normalize_reply(gather(harness.read_stream(stream))),
            normal_form.normalize_reply(gather(events)),
        )

    check_each(harness, st.tuples(streams(), cuts(3)), check)


@law(
    "streams/grammar",
    "a stream is not well formed",
    "open, fill and close each part in turn and end once, or correct the declared grammar",
    has_client,
)
def grammatical(harness: FormatHarness) -> None:
    def check(events: list[StreamEvent]) -> None:
        _is_grammatical(harness, harness.write_stream([[event] for event in events])[0])

    check_each(harness, streams(), check)
    for reply in sample_values.REPLIES.values():
        _is_grammatical(harness, harness.write_stream([unfold(reply)])[0])


@law(
    "streams/failures",
    "a failure in mid-stream is not written as the error that ends it",
    "write one error frame with the failure's message, and nothing after it",
    has_client,
)
def failures(harness: FormatHarness) -> None:
    def check(actual: tuple[list[StreamEvent], int]) -> None:
        events, place = actual
        place %= len(events)
        failed = ReplyFailed("out of luck4711", status=529, retry_after=7)
        broken = [*events[:place], failed]
        stream, _ = harness.write_stream([broken])
        _is_grammatical(harness, stream)
        expect(b"out of luck4711" in stream, stream)
        if harness.wire.vendor is not None:
            last = harness.read_stream(stream)[-1]
            expect(isinstance(last, ReplyFailed) and "luck4711" in last.message, last)

    check_each(harness, st.tuples(streams(), st.integers(0, 99)), check)


@law(
    "streams/keeps-losses",
    "an image or a signature is lost in a stream in silence",
    "name in losses what the stream does not carry, as for the whole answer",
    has_both,
)
def losses_are_named(harness: FormatHarness) -> None:
    for name, reply in sample_values.REPLIES.items():
        stream, losses = harness.write_stream([unfold(reply)])
        actual = normal_form.normalize_reply(gather(harness.read_stream(stream)))
        expect(bool(losses) or actual == normal_form.normalize_reply(reply), name, actual, reply)


@law(
    "streams/any-cut",
    "other cuts of the same bytes give other events",
    "keep the bytes of an unfinished frame until the rest has come, and decode whole frames only",
    has_vendor,
)
def any_cut(harness: FormatHarness) -> None:
    for stream in harness.streams:
        whole = harness.read_stream(stream)
        expect_equal(
            harness.read_stream(*([stream[place : place + 1] for place in range(len(stream))])),
            whole,
            "byte by byte:",
        )

    def check(actual: tuple[int, list[int]]) -> None:
        stream, places = harness.streams[actual[0]], actual[1]
        expect_equal(
            harness.read_stream(*cut(stream, places)), harness.read_stream(stream), f"{places}:"
        )

    if harness.streams:
        check_each(harness, st.tuples(places_in(harness.streams), cuts()), check)


@law(
    "streams/order",
    "a reader gives events out of their order",
    "keep the order at the top of gateway_core/contracts/events.py whatever the vendor sends",
    has_vendor,
)
def ordered(harness: FormatHarness) -> None:
    for stream in harness.streams:
        events = harness.read_stream(stream)
        expect(find_disorder(events) is None, find_disorder(events), events)


@law(
    "streams/recorded",
    "a recorded stream fails, or its usage does not add up",
    "read every frame that vendors send; frames of unknown types are skipped",
    has_vendor,
)
def recorded(harness: FormatHarness) -> None:
    for stream in harness.samples.streams:
        events = harness.read_stream(stream)
        expect(not isinstance(events[-1], ReplyFailed), events[-1])
        usage = gather(events).usage
        expect(usage is None or adds_up(usage), usage)


@law(
    "streams/cut-short",
    "a stream that breaks off passes for a whole answer",
    "let close() give ReplyFailed unless the frame that properly ends a stream has come",
    has_vendor,
)
def cut_short(harness: FormatHarness) -> None:
    for stream in harness.streams:
        first = len(harness.frames(stream)[0]) - 1
        for place in {0, 1, first // 2}:
            events = harness.read_stream(stream[:place])
            expect(has_failed(events), stream[:place], events)
        for prefix in harness.beginnings(stream):
            if not has_failed(harness.read_stream(prefix)):
                message = f"cut at byte {len(prefix)} of {len(stream)}:"
                expect_equal(choices(harness, prefix), choices(harness, stream), message)


@law(
    "streams/comments-and-line-ends",
    "comments, keep-alive frames or CRLF change what a stream says",
    "read frames with gateway_formats.sse, which follows the rules of event streams",
    has_vendor,
)
def comments(harness: FormatHarness) -> None:
    if harness.frame_end is None:
        return
    is_lines = harness.frame_end == b"\n"
    for stream in harness.streams:
        whole = harness.read_stream(stream)
        frames = harness.frames(stream)
        returned = stream.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        silences = [b"\n"] if is_lines else [b": kept alive\n\n"]
        silences += [harness.wire.keep_alive.frame] if harness.wire.keep_alive else []
        for silence in silences:
            expect_equal(harness.read_stream(silence.join([b"", *frames])), whole, f"{silence!r}:")
        expect_equal(harness.read_stream(returned), whole, "CRLF:")


@law(
    "streams/rubbish",
    "a stream of rubbish raises, or passes for an answer",
    "let a reader catch what its decoder raises and give ReplyFailed",
    has_vendor,
)
def rubbish_in_streams(harness: FormatHarness) -> None:
    streams_and_nothing = (*harness.streams, b"")

    def check(actual: tuple[bytes, int, bytes]) -> None:
        head, stream, tail = actual[0], streams_and_nothing[actual[1]], actual[2]
        harness.read_stream(head, stream, tail)
        place = len(stream) // 2
        harness.read_stream(stream[:place] + head + stream[place:])
        events = harness.read_stream(head)
        expect(bool(events) and isinstance(events[-1], ReplyFailed), head, events)

    check_each(harness, st.tuples(rubbish, places_in(streams_and_nothing), rubbish), check)


@law(
    "streams/repeated-usage",
    "usage that is reported twice is added up or the first report counts",
    "let a later report replace an earlier one",
    has_both,
)
def repeated_usage(harness: FormatHarness) -> None:
    first, last = Usage(input_tokens=70, output_tokens=1), Usage(input_tokens=70, output_tokens=52)
    start, *parts, _, end = unfold(sample_values.REPLIES["text"])
    reports = [UsageReported(first), *parts, UsageReported(first), UsageReported(last)]
    for events in ([start, *reports, end], [start, *parts, end, UsageReported(last)]):
        stream, _ = harness.write_stream([events])
        usage = gather(harness.read_stream(stream)).usage
        expect_equal(normal_form.usage_counts(usage), (70, 52), "usage:")


@law(
    "streams/several-answers",
    "answers with an index other than 0 are mixed up or lost in silence",
    "tell choices apart by their index, or name candidates in losses",
    has_both,
)
def several_answers(harness: FormatHarness) -> None:
    reply = sample_values.REPLIES["several answers"]
    events: Sequence[StreamEvent] = unfold(reply)
    mixed = sorted(events[1:], key=lambda event: isinstance(event, ChoiceEnded | UsageReported))
    stream, losses = harness.write_stream([[event] for event in (events[0], *mixed)])
    actual = normal_form.normalize_reply(gather(harness.read_stream(stream)))["choices"]
    expected = normal_form.normalize_reply(reply)["choices"]

    expect_equal(actual, expected[:1] if losses else expected)


@law(
    "streams/nothing-said",
    "a stream without any part is not an answer",
    "write the frames that begin and end an answer even when nothing was said",
    has_client,
)
def nothing_said(harness: FormatHarness) -> None:
    _is_grammatical(
        harness, harness.write_stream([[ReplyStarted("r", "m"), ChoiceEnded("stop")]])[0]
    )


@law(
    "streams/fresh",
    "two streams that are open at the same time disturb each other",
    "make a new reader and a new writer for each answer, with no state outside them",
    has_both,
)
def fresh(harness: FormatHarness) -> None:
    _are_read_apart(harness, write_apart(harness))


def write_apart(harness: FormatHarness) -> list[bytes]:
    """Two streams, each as it is written alone, after they were compared with what two writers
    give that are stepped alternately, so that both are in the middle of the same thing."""
    replies = [
        unfold(sample_values.build_reply(Text(text=text), usage=usage))
        for text, usage in (
            ("one4711", Usage(input_tokens=1111, output_tokens=2222)),
            ("two4711", Usage(input_tokens=3333, output_tokens=4444)),
        )
    ]
    alone = [harness.write_stream([[event] for event in reply])[0] for reply in replies]
    writers = [harness.client.stream_writer(harness.request, Losses()) for _ in replies]
    written = [b"", b""]
    for events in zip(*replies, strict=True):
        for number, event in enumerate(events):
            written[number] += writers[number].feed([event])
    for number, writer in enumerate(writers):
        written[number] += writer.close()
        expect(_says(harness, written[number]) == _says(harness, alone[number]), alone[number])
    return alone


def _are_read_apart(harness: FormatHarness, streams: Sequence[bytes]) -> None:
    readers = [harness.vendor.stream_reader() for _ in streams]
    events: list[list[StreamEvent]] = [[] for _ in streams]
    for place in range(max(map(len, streams))):
        for number, stream in enumerate(streams):
            events[number] += readers[number].feed(stream[place : place + 1])
    for number, stream in enumerate(streams):
        events[number] += readers[number].close()
        expect_equal(gather(events[number]), gather(harness.read_stream(stream)))


def _says(harness: FormatHarness, stream: bytes) -> object:
    """What a stream holds; where nobody reads it, the marks and numbers that are in it."""
    if harness.wire.vendor is not None:
        return gather(harness.read_stream(stream)).usage, facts_of(harness, stream)
    marks = (b"one4711", b"two4711", b"1111", b"2222", b"3333", b"4444")
    return [mark in stream for mark in marks]


def has_failed(events: Sequence[StreamEvent]) -> bool:
    return bool(events) and isinstance(events[-1], ReplyFailed)


def choices(harness: FormatHarness, stream: bytes) -> object:
    """The content of a stream without usage. Raises UpstreamError for one that fails."""
    return normal_form.normalize_reply(gather(harness.read_stream(stream)))["choices"]


def facts_of(harness: FormatHarness, stream: bytes) -> object:
    return normal_form.normalize_reply(gather(harness.read_stream(stream)))


def _is_grammatical(harness: FormatHarness, stream: bytes) -> None:
    grammar = harness.wire.grammar
    if grammar is not None:
        expect(find_violation(grammar, stream) is None, find_violation(grammar, stream), stream)


LAWS: tuple[Law, ...] = (
    folded,
    written_and_read,
    grammatical,
    failures,
    losses_are_named,
    any_cut,
    ordered,
    recorded,
    cut_short,
    comments,
    rubbish_in_streams,
    repeated_usage,
    several_answers,
    nothing_said,
    fresh,
)
