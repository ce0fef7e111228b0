"""Laws of passing through: what comes is what goes, as soon as it is whole."""

from hypothesis import strategies as st

from gateway_core import PartGrew, PartStarted, Refusal, Relay, ReplyFailed, Usage
from gateway_formats.grammar import find_violation

from . import normal_form
from .case import Law, check_each, expect, expect_equal, has_both, law
from .harness import FormatHarness, cut
from .strategies import cuts, places_in, rubbish
from .streams import choices, has_failed


@law(
    "relays/identity",
    "a stream that passes through is changed",
    "give back each whole frame as it came",
    has_both,
)
def identity(harness: FormatHarness) -> None:
    def check(example: tuple[int, list[int]]) -> None:
        stream, places = harness.streams[example[0]], example[1]
        relay = harness.relay(stream=True)
        passed = _pass(relay, *cut(stream, places))
        expect_equal(passed[: len(stream)], stream)
        # The line ends that a vendor left out after its last frame may be added.
        expect_equal(passed[len(stream) :].strip(), b"", "at the end:")
        expect_equal((relay.ended, relay.failure), (True, None), "ended and failure:")

    if harness.streams:
        check_each(harness, st.tuples(places_in(harness.streams), cuts()), check)


@law(
    "relays/at-once",
    "a relay holds back frames that are whole",
    "give a frame as soon as its last byte has come",
    has_both,
)
def at_once(harness: FormatHarness) -> None:
    for stream in harness.streams:
        relay = harness.relay(stream=True)
        for frame in filter(harness.is_whole, harness.frames(stream)):
            expect_equal(relay.feed(frame), frame)


@law(
    "relays/whole-frames",
    "a relay gives a part of a frame",
    "keep an unfinished frame until its rest has come",
    has_both,
)
def whole_frames(harness: FormatHarness) -> None:
    for stream in harness.streams:
        relay = harness.relay(stream=True)
        passed = relay.feed(stream[: len(stream) // 2])
        expect(passed == b"" or harness.is_whole(passed), passed)


@law(
    "relays/whole-answers",
    "a whole answer that passes through is changed, or given before it was understood",
    "hold it in feed and give it in close, as gateway_formats.relay.WholeRelay does",
    has_both,
)
def whole_answers(harness: FormatHarness) -> None:
    for body in harness.replies:
        relay = harness.relay(stream=False)
        expect_equal(relay.feed(body[:9]) + relay.feed(body[9:]), b"")
        expect_equal(relay.close(), body)
        expect_equal(relay.failure, None, "failure:")
        usage = harness.vendor.read_reply(body).usage
        expect_equal(_token_counts(relay.usage), _token_counts(usage), "usage:")


@law(
    "relays/usage",
    "a relay counts other tokens than a reader does",
    "take usage from the same members in the same way as stream_reader",
    has_both,
)
def usage(harness: FormatHarness) -> None:
    for stream in harness.streams:
        relay = harness.relay(stream=True)
        _pass(relay, stream)
        reports = [event.usage for event in harness.read_stream(stream) if hasattr(event, "usage")]
        expect_equal(
            _token_counts(relay.usage), _token_counts(reports[-1] if reports else None), "usage:"
        )


@law(
    "relays/characters",
    "a relay counts no characters of what it passes, or fewer than none",
    "add the lengths of text, thinking and tool arguments as they pass, and set started",
    has_both,
)
def characters(harness: FormatHarness) -> None:
    for stream in harness.streams:
        relay = harness.relay(stream=True)
        _pass(relay, stream)
        events = harness.read_stream(stream)
        started = [event for event in events if isinstance(event, PartStarted)]
        refused = {
            (check_each.choice, check_each.index)
            for check_each in started
            if isinstance(check_each.part, Refusal)
        }
        grown = [event for event in events if isinstance(event, PartGrew)]
        is_said = any(
            len(event.text) > 2 and (event.choice, event.index) not in refused for event in grown
        )
        expect(relay.characters >= int(is_said), relay.characters, stream)
        expect(relay.started or not is_said, "started is not true", stream)


@law(
    "relays/cut-short",
    "a stream that breaks off passes as a whole one",
    "let close() end it with an error frame unless its proper end has passed",
    has_both,
)
def cut_short(harness: FormatHarness) -> None:
    for stream in harness.streams:
        # Where frames have no fixed end, padding may follow the end from early on.
        place = min(len(harness.frames(stream)[0]), len(stream) // 4)
        relay = harness.relay(stream=True)
        passed = _pass(relay, stream[:place])
        expect(relay.failure is not None and not relay.ended, passed)
        _is_grammatical(harness, passed)
        for prefix in harness.beginnings(stream):
            relay = harness.relay(stream=True)
            passed = _pass(relay, prefix)
            if relay.failure is None:
                message = f"cut at byte {len(prefix)} of {len(stream)}:"
                expect(not has_failed(harness.read_stream(passed)), f"{message} no failure is told")
                expect_equal(choices(harness, passed), choices(harness, stream), message)


@law(
    "relays/fail",
    "an error that ends a stream is not written, or is written twice",
    "let fail() give one error frame, and give nothing after it",
    has_both,
)
def fail(harness: FormatHarness) -> None:
    failure = ReplyFailed("out of luck4711", status=503)
    for stream in harness.streams:
        first = harness.frames(stream)[0] if harness.frame_end else b""
        relay = harness.relay(stream=True)
        head = relay.feed(first) if first != stream else b""
        passed = head + relay.fail(failure)
        expect(relay.failure == failure and b"luck4711" in passed, passed)
        expect_equal(relay.feed(stream) + relay.fail(failure) + relay.close(), b"")
        _is_grammatical(harness, passed)


@law(
    "relays/rubbish",
    "a relay raises at rubbish, or passes it on",
    "end the stream with an error frame at the first frame that makes no sense",
    has_both,
)
def rubbish_in_relays(harness: FormatHarness) -> None:
    streams = (*harness.streams, b"")

    def check(example: tuple[bytes, int]) -> None:
        head, stream = example[0], streams[example[1]]
        place = len(stream) // 2
        _pass(harness.relay(stream=True), head, stream)
        _pass(harness.relay(stream=True), stream[:place], head, stream[place:])
        _pass(harness.relay(stream=False), head)

    check_each(harness, st.tuples(rubbish, places_in(streams)), check)
    for stream in harness.streams:
        _stops_at_rubbish(harness, stream)


def _stops_at_rubbish(harness: FormatHarness, stream: bytes) -> None:
    if harness.frame_end is None:
        return
    broken = b"data: {" if harness.frame_end == b"\n\n" else b"{"
    relay = harness.relay(stream=True)
    passed = _pass(relay, broken + harness.frame_end, stream)
    expect(relay.failure is not None and stream not in passed, passed)
    _is_grammatical(harness, passed)


def _pass(relay: Relay, *chunks: bytes) -> bytes:
    return b"".join(map(relay.feed, chunks)) + relay.close()


def _token_counts(usage: Usage | None) -> tuple[int, ...]:
    parts = (usage.cached_tokens, usage.cache_write_tokens) if usage else (0, 0)
    return (*normal_form.usage_counts(usage), *parts)


def _is_grammatical(harness: FormatHarness, stream: bytes) -> None:
    grammar = harness.wire.grammar
    if grammar is not None:
        expect(find_violation(grammar, stream) is None, find_violation(grammar, stream), stream)


LAWS: tuple[Law, ...] = (
    identity,
    at_once,
    whole_frames,
    whole_answers,
    usage,
    characters,
    cut_short,
    fail,
    rubbish_in_relays,
)
