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
def folded(bench: FormatHarness) -> None:
    def check(reply: Reply) -> None:
        stream, _ = bench.write_stream([unfold(reply)])
        whole = bench.vendor.read_reply(bench.write_reply(reply)[0])
        expect_equal(
            normal_form.normalize_reply(gather(bench.read_stream(stream))),
            normal_form.normalize_reply(whole),
        )

    check_each(bench, replies(), check)


@law(
    "streams/written-and-read",
    "a stream whose parts overlap and grow in pieces reads differently than it was written",
    "tell parts apart by their index, add up their pieces, and let the last usage count",
    has_both,
)
def written_and_read(bench: FormatHarness) -> None:
    def check(actual: tuple[list[StreamEvent], list[int]]) -> None:
        events, places = actual
        places = sorted(place % (len(events) + 1) for place in places)
        bounds = [0, *places, len(events)]
        batches = [events[a:b] for a, b in pairwise(bounds)]
        stream, _ = bench.write_stream(batches)
        expect_equal(
            normal_form.normalize_reply(gather(bench.read_stream(stream))),
            normal_form.normalize_reply(gather(events)),
        )

    check_each(bench, st.tuples(streams(), cuts(3)), check)


@law(
    "streams/grammar",
    "a stream is not well formed",
    "open, fill and close each part in turn and end once, or correct the declared grammar",
    has_client,
)
def grammatical(bench: FormatHarness) -> None:
    def check(events: list[StreamEvent]) -> None:
        _is_grammatical(bench, bench.write_stream([[event] for event in events])[0])

    check_each(bench, streams(), check)
    for reply in sample_values.REPLIES.values():
        _is_grammatical(bench, bench.write_stream([unfold(reply)])[0])


@law(
    "streams/failures",
    "a failure in mid-stream is not written as the error that ends it",
    "write one error frame with the failure's message, and nothing after it",
    has_client,
)
def failures(bench: FormatHarness) -> None:
    def check(actual: tuple[list[StreamEvent], int]) -> None:
        events, place = actual
        place %= len(events)
        failed = ReplyFailed("out of luck4711", status=529, retry_after=7)
        broken = [*events[:place], failed]
        stream, _ = bench.write_stream([broken])
        _is_grammatical(bench, stream)
        expect(b"out of luck4711" in stream, stream)
        if bench.wire.vendor is not None:
            last = bench.read_stream(stream)[-1]
            expect(isinstance(last, ReplyFailed) and "luck4711" in last.message, last)

    check_each(bench, st.tuples(streams(), st.integers(0, 99)), check)


@law(
    "streams/keeps-losses",
    "an image or a signature is lost in a stream in silence",
    "name in losses what the stream does not carry, as for the whole answer",
    has_both,
)
def losses_are_named(bench: FormatHarness) -> None:
    for name, reply in sample_values.REPLIES.items():
        stream, losses = bench.write_stream([unfold(reply)])
        actual = normal_form.normalize_reply(gather(bench.read_stream(stream)))
        expect(bool(losses) or actual == normal_form.normalize_reply(reply), name, actual, reply)


@law(
    "streams/any-cut",
    "other cuts of the same bytes give other events",
    "keep the bytes of an unfinished frame until the rest has come, and decode whole frames only",
    has_vendor,
)
def any_cut(bench: FormatHarness) -> None:
    for stream in bench.streams:
        whole = bench.read_stream(stream)
        expect_equal(
            bench.read_stream(*([stream[place : place + 1] for place in range(len(stream))])),
            whole,
            "byte by byte:",
        )

    def check(actual: tuple[int, list[int]]) -> None:
        stream, places = bench.streams[actual[0]], actual[1]
        expect_equal(
            bench.read_stream(*cut(stream, places)), bench.read_stream(stream), f"{places}:"
        )

    if bench.streams:
        check_each(bench, st.tuples(places_in(bench.streams), cuts()), check)


@law(
    "streams/order",
    "a reader gives events out of their order",
    "keep the order at the top of gateway_core/contracts/events.py whatever the vendor sends",
    has_vendor,
)
def ordered(bench: FormatHarness) -> None:
    for stream in bench.streams:
        events = bench.read_stream(stream)
        expect(find_disorder(events) is None, find_disorder(events), events)


@law(
    "streams/recorded",
    "a recorded stream fails, or its usage does not add up",
    "read every frame that vendors send; frames of unknown types are skipped",
    has_vendor,
)
def recorded(bench: FormatHarness) -> None:
    for stream in bench.samples.streams:
        events = bench.read_stream(stream)
        expect(not isinstance(events[-1], ReplyFailed), events[-1])
        usage = gather(events).usage
        expect(usage is None or adds_up(usage), usage)


@law(
    "streams/cut-short",
    "a stream that breaks off passes for a whole answer",
    "let close() give ReplyFailed unless the frame that properly ends a stream has come",
    has_vendor,
)
def cut_short(bench: FormatHarness) -> None:
    for stream in bench.streams:
        first = len(bench.frames(stream)[0]) - 1
        for place in {0, 1, first // 2}:
            events = bench.read_stream(stream[:place])
            expect(has_failed(events), stream[:place], events)
        for prefix in bench.beginnings(stream):
            if not has_failed(bench.read_stream(prefix)):
                message = f"cut at byte {len(prefix)} of {len(stream)}:"
                expect_equal(choices(bench, prefix), choices(bench, stream), message)


@law(
    "streams/comments-and-line-ends",
    "comments, keep-alive frames or CRLF change what a stream says",
    "read frames with gateway_formats.sse, which follows the rules of event streams",
    has_vendor,
)
def comments(bench: FormatHarness) -> None:
    if bench.frame_end is None:
        return
    is_lines = bench.frame_end == b"\n"
    for stream in bench.streams:
        whole = bench.read_stream(stream)
        frames = bench.frames(stream)
        returned = stream.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        silences = [b"\n"] if is_lines else [b": kept alive\n\n"]
        silences += [bench.wire.keep_alive.frame] if bench.wire.keep_alive else []
        for silence in silences:
            expect_equal(bench.read_stream(silence.join([b"", *frames])), whole, f"{silence!r}:")
        expect_equal(bench.read_stream(returned), whole, "CRLF:")


@law(
    "streams/rubbish",
    "a stream of rubbish raises, or passes for an answer",
    "let a reader catch what its decoder raises and give ReplyFailed",
    has_vendor,
)
def rubbish_in_streams(bench: FormatHarness) -> None:
    streams_and_nothing = (*bench.streams, b"")

    def check(actual: tuple[bytes, int, bytes]) -> None:
        head, stream, tail = actual[0], streams_and_nothing[actual[1]], actual[2]
        bench.read_stream(head, stream, tail)
        place = len(stream) // 2
        bench.read_stream(stream[:place] + head + stream[place:])
        events = bench.read_stream(head)
        expect(bool(events) and isinstance(events[-1], ReplyFailed), head, events)

    check_each(bench, st.tuples(rubbish, places_in(streams_and_nothing), rubbish), check)


@law(
    "streams/repeated-usage",
    "usage that is reported twice is added up or the first report counts",
    "let a later report replace an earlier one",
    has_both,
)
def repeated_usage(bench: FormatHarness) -> None:
    first, last = Usage(input_tokens=70, output_tokens=1), Usage(input_tokens=70, output_tokens=52)
    start, *parts, _, end = unfold(sample_values.REPLIES["text"])
    reports = [UsageReported(first), *parts, UsageReported(first), UsageReported(last)]
    for events in ([start, *reports, end], [start, *parts, end, UsageReported(last)]):
        stream, _ = bench.write_stream([events])
        usage = gather(bench.read_stream(stream)).usage
        expect_equal(normal_form.usage_counts(usage), (70, 52), "usage:")


@law(
    "streams/several-answers",
    "answers with an index other than 0 are mixed up or lost in silence",
    "tell choices apart by their index, or name candidates in losses",
    has_both,
)
def several_answers(bench: FormatHarness) -> None:
    reply = sample_values.REPLIES["several answers"]
    events: Sequence[StreamEvent] = unfold(reply)
    mixed = sorted(events[1:], key=lambda event: isinstance(event, ChoiceEnded | UsageReported))
    stream, losses = bench.write_stream([[event] for event in (events[0], *mixed)])
    actual = normal_form.normalize_reply(gather(bench.read_stream(stream)))["choices"]
    expected = normal_form.normalize_reply(reply)["choices"]

    expect_equal(actual, expected[:1] if losses else expected)


@law(
    "streams/nothing-said",
    "a stream without any part is not an answer",
    "write the frames that begin and end an answer even when nothing was said",
    has_client,
)
def nothing_said(bench: FormatHarness) -> None:
    _is_grammatical(bench, bench.write_stream([[ReplyStarted("r", "m"), ChoiceEnded("stop")]])[0])


@law(
    "streams/fresh",
    "two streams that are open at the same time disturb each other",
    "make a new reader and a new writer for each answer, with no state outside them",
    has_both,
)
def fresh(bench: FormatHarness) -> None:
    one, two = (
        sample_values.build_reply(Text(text="one4711")),
        sample_values.build_reply(Text(text="two4711")),
    )
    alone = bench.write_stream([unfold(two)])[0]
    writer = bench.client.stream_writer(bench.request, Losses())
    writer.feed(unfold(one)[:3])
    expect(facts_of(bench, bench.write_stream([unfold(two)])[0]) == facts_of(bench, alone), alone)


def has_failed(events: Sequence[StreamEvent]) -> bool:
    return bool(events) and isinstance(events[-1], ReplyFailed)


def choices(bench: FormatHarness, stream: bytes) -> object:
    """What a stream says, whatever was counted. Raises UpstreamError for one that fails."""
    return normal_form.normalize_reply(gather(bench.read_stream(stream)))["choices"]


def facts_of(bench: FormatHarness, stream: bytes) -> object:
    return normal_form.normalize_reply(gather(bench.read_stream(stream)))


def _is_grammatical(bench: FormatHarness, stream: bytes) -> None:
    grammar = bench.wire.grammar
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
