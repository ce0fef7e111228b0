"""Laws of passing through: what comes is what goes, as soon as it is whole."""

from collections.abc import Sequence

from hypothesis import strategies as st

from gateway_core import PartGrew, PartStarted, Refusal, Relay, ReplyFailed, StreamEvent, Usage
from gateway_formats.grammar import find_violation

from . import facts
from .bench import Bench, cut
from .case import Law, each, expect, has_vendor, law, same
from .strategies import cuts, places_in, rubbish
from .streams import has_failed, said


@law(
    "relays/identity",
    "a stream that passes through is changed",
    "give back each whole frame as it came",
    has_vendor,
)
def identity(bench: Bench) -> None:
    def check(found: tuple[int, list[int]]) -> None:
        stream, places = bench.streams[found[0]], found[1]
        relay = bench.relay(stream=True)
        passed = _pass(relay, *cut(stream, places))
        same(passed[: len(stream)], stream)
        # The line ends that a vendor left out after its last frame may be added.
        same(passed[len(stream) :].strip(), b"", "at the end:")
        same((relay.ended, relay.failure), (True, None), "ended and failure:")

    if bench.streams:
        each(bench, st.tuples(places_in(bench.streams), cuts()), check)


@law(
    "relays/at-once",
    "a relay holds back frames that are whole",
    "give a frame as soon as its last byte has come",
    has_vendor,
)
def at_once(bench: Bench) -> None:
    for stream in bench.streams:
        relay = bench.relay(stream=True)
        for frame in filter(bench.is_whole, bench.frames(stream)):
            same(relay.feed(frame), frame)


@law(
    "relays/whole-frames",
    "a relay gives a part of a frame",
    "keep an unfinished frame until its rest has come",
    has_vendor,
)
def whole_frames(bench: Bench) -> None:
    for stream in bench.streams:
        relay = bench.relay(stream=True)
        passed = relay.feed(stream[: len(stream) // 2])
        expect(passed == b"" or bench.is_whole(passed), passed)


@law(
    "relays/whole-answers",
    "a whole answer that passes through is changed, or given before it was understood",
    "hold it in feed and give it in close, as gateway_formats.relay.WholeRelay does",
    has_vendor,
)
def whole_answers(bench: Bench) -> None:
    for body in bench.replies:
        relay = bench.relay(stream=False)
        same(relay.feed(body[:9]) + relay.feed(body[9:]), b"")
        same(relay.close(), body)
        same(relay.failure, None, "failure:")
        usage = bench.vendor.read_reply(body).usage
        same(_counts(relay.usage), _counts(usage), "usage:")


@law(
    "relays/usage",
    "a relay counts other tokens than a reader does",
    "take usage from the same members in the same way as stream_reader",
    has_vendor,
)
def usage(bench: Bench) -> None:
    for stream in bench.streams:
        relay = bench.relay(stream=True)
        _pass(relay, stream)
        reports = [event.usage for event in bench.read_stream(stream) if hasattr(event, "usage")]
        same(_counts(relay.usage), _counts(reports[-1] if reports else None), "usage:")


@law(
    "relays/characters",
    "a relay counts no characters of what it passes, or fewer than none",
    "add the lengths of text, thinking and tool arguments as they pass, and set started",
    has_vendor,
)
def characters(bench: Bench) -> None:
    for stream in bench.streams:
        relay = bench.relay(stream=True)
        _pass(relay, stream)
        is_said = _says_much(bench.read_stream(stream))
        expect(relay.characters >= int(is_said), relay.characters, stream)
        expect(relay.started or not is_said, "started is not true", stream)


@law(
    "relays/cut-short",
    "a stream that breaks off passes as a whole one",
    "let close() end it with an error frame unless its proper end has passed",
    has_vendor,
)
def cut_short(bench: Bench) -> None:
    for stream in bench.streams:
        # Where frames cannot be told apart, padding may follow the end from early on.
        place = min(len(bench.frames(stream)[0]), len(stream) // 4)
        relay = bench.relay(stream=True)
        passed = _pass(relay, stream[:place])
        expect(relay.failure is not None and not relay.ended, passed)
        _is_grammatical(bench, passed)
        for begun in bench.beginnings(stream):
            relay = bench.relay(stream=True)
            passed = _pass(relay, begun)
            if relay.failure is None:
                told = f"cut at byte {len(begun)} of {len(stream)}:"
                expect(not has_failed(bench.read_stream(passed)), f"{told} no failure is told")
                same(said(bench, passed), said(bench, stream), told)


@law(
    "relays/fail",
    "an error that ends a stream is not written, or is written twice",
    "let fail() give one error frame, and give nothing after it",
    has_vendor,
)
def fail(bench: Bench) -> None:
    failure = ReplyFailed("out of luck4711", status=503)
    for stream in bench.streams:
        first = bench.frames(stream)[0] if bench.frame_end else b""
        relay = bench.relay(stream=True)
        head = relay.feed(first) if first != stream else b""
        passed = head + relay.fail(failure)
        expect(relay.failure == failure and b"luck4711" in passed, passed)
        same(relay.feed(stream) + relay.fail(failure) + relay.close(), b"")
        _is_grammatical(bench, passed)


@law(
    "relays/rubbish",
    "a relay raises at rubbish, or passes it on",
    "end the stream with an error frame at the first frame that makes no sense",
    has_vendor,
)
def rubbish_in_relays(bench: Bench) -> None:
    known = (*bench.streams, b"")

    def check(found: tuple[bytes, int]) -> None:
        head, stream = found[0], known[found[1]]
        place = len(stream) // 2
        _pass(bench.relay(stream=True), head, stream)
        _pass(bench.relay(stream=True), stream[:place], head, stream[place:])
        _pass(bench.relay(stream=False), head)

    each(bench, st.tuples(rubbish, places_in(known)), check)
    for stream in bench.streams:
        _stops_at_rubbish(bench, stream)


def _stops_at_rubbish(bench: Bench, stream: bytes) -> None:
    if bench.frame_end is None:
        return
    broken = b"data: {" if bench.frame_end == b"\n\n" else b"{"
    relay = bench.relay(stream=True)
    passed = _pass(relay, broken + bench.frame_end, stream)
    expect(relay.failure is not None and stream not in passed, passed)
    _is_grammatical(bench, passed)


def _says_much(events: Sequence[StreamEvent]) -> bool:
    """More than a refusal, or the two braces that some dialects add to a call."""
    started = [event for event in events if isinstance(event, PartStarted)]
    refused = {(each.choice, each.index) for each in started if isinstance(each.part, Refusal)}
    grown = [event for event in events if isinstance(event, PartGrew)]
    return any(
        len(event.text) > 2 and (event.choice, event.index) not in refused for event in grown
    )


def _pass(relay: Relay, *chunks: bytes) -> bytes:
    return b"".join(map(relay.feed, chunks)) + relay.close()


def _counts(usage: Usage | None) -> tuple[int, ...]:
    parts = (usage.cached_tokens, usage.cache_write_tokens) if usage else (0, 0)
    return (*facts.of_usage(usage), *parts)


def _is_grammatical(bench: Bench, stream: bytes) -> None:
    grammar = bench.wire.grammar
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
