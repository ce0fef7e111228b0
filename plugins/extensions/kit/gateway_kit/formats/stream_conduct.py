"""Laws of streams that clients get: frames, their order in time, and what follows a failure."""

import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    Losses,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
)
from gateway_formats.fold import unfold

from .agreement import in_pieces, objects_of, strings_of
from .case import Law, expect, has_client, law
from .harness import FormatHarness
from .sample_values import FIRST, TEXT, build_reply
from .shown import rows_of

PIECES = 3000
SLOWER = 6.0
"""How many times as long the last pieces of a long stream may take as the first."""
OUT_OF_LUCK = ReplyFailed("out of luck4711", status=529, kind="kit_kind4711", retry_after=7)


@law(
    "streams/over",
    "a stream goes on after its end, or begins before anything was said",
    "write nothing for no events, and nothing after ReplyFailed",
    has_client,
)
def over(harness: FormatHarness) -> None:
    start, *parts, _ = unfold(replace(build_reply(TEXT), usage=None))
    for before in ([], [start], [start, *parts[:1]], [start, *parts]):
        writer = harness.client.stream_writer(harness.request, Losses())
        body = writer.feed([*before, OUT_OF_LUCK])
        expect(b"out of luck4711" in body, "the failure is not there at once:", body)
        after = writer.close()
        expect(not after, f"after a failure behind {len(before)} events:", after)
    writer = harness.client.stream_writer(harness.request, Losses())
    body = writer.feed([start, *parts])
    nothing = writer.feed([])
    expect(not nothing.strip(), "for no events:", nothing)


@law(
    "streams/whole-frames",
    "a piece of a stream ends in the middle of a frame",
    "give whole frames only: clients get each piece at once",
    has_client,
)
def whole_frames(harness: FormatHarness) -> None:
    writer = harness.client.stream_writer(harness.request, Losses())
    reply = build_reply(Reasoning(text="pondering4711"), TEXT, FIRST, finish="tool_calls")
    pieces = [writer.feed(events) for events in in_pieces(reply)]
    for piece in (*pieces, writer.close()):
        expect(not piece or harness.is_whole(piece), piece)


@law(
    "streams/thinking-in-pieces",
    "a piece of thinking, of a refusal or of arguments is changed or lost",
    "write each piece as it comes, with its white space",
    has_client,
)
def thinking_in_pieces(harness: FormatHarness) -> None:
    words = " first thought4711\n\n then \t another 🦓 one "
    for part in (Reasoning(text=words), Refusal(text=words), Text(text=words)):
        for size in (1, 4):
            body, losses = harness.write_stream(in_pieces(build_reply(part), size))
            said = strings_of(rows_of(body)).values()
            kind = type(part).__name__
            expect(bool(losses) or any(words in each for each in said), f"{kind}:", body)


@law(
    "streams/failure-agrees",
    "a failure in a stream says another condition than an error in its place",
    "write kind and status of ReplyFailed where error bodies have them",
    has_client,
)
def failure_agrees(harness: FormatHarness) -> None:
    start, *parts, _ = unfold(replace(build_reply(TEXT), usage=None))
    body, _ = harness.write_stream([[start], parts, [OUT_OF_LUCK]])
    statuses = [
        value
        for row in rows_of(body)
        for each in objects_of(row)
        if isinstance(each, dict)
        for key, value in each.items()
        if "status" in key and type(value) is int
    ]
    expect(set(statuses) <= {529}, f"status {statuses}", body)
    plain, _ = harness.write_stream([[start], parts, [replace(OUT_OF_LUCK, kind=None)]])
    words = {key for row in rows_of(body) for key in _words_of(row)}
    expect(b"kit_kind4711" in body or not words or body != plain, "kind:", body)


def _words_of(row: object) -> set[str]:
    objects = (each for each in objects_of(row) if isinstance(each, dict))
    return {key for each in objects for key in each if key in ("kind", "word")}


@law(
    "streams/steady",
    "pieces of a long stream take longer and longer",
    "do for each piece what that piece needs, and do not go through all of them again",
    has_client,
)
def steady(harness: FormatHarness) -> None:
    def take(write: Callable[[Sequence[StreamEvent]], bytes], count: int) -> float:
        begun = time.perf_counter()
        for _ in range(count):
            write([PartGrew(0, "some words ")])
        return time.perf_counter() - begun

    ratios = []
    for _ in range(3):
        writer = harness.client.stream_writer(harness.request, Losses())
        writer.feed([ReplyStarted("r4711", "kit-model"), PartStarted(0, Text(text=""))])
        count = PIECES // 10
        first = take(writer.feed, count)
        take(writer.feed, PIECES - 2 * count)
        ratios.append(take(writer.feed, count) / first)
        if ratios[-1] < SLOWER:
            return
    expect(False, f"the last of {PIECES} pieces take {min(ratios):.0f} times as long as the first")


@law(
    "streams/second-answer",
    "answers beside the first are lost in a stream in silence",
    "write each choice, or name candidates in losses",
    has_client,
)
def second_answer(harness: FormatHarness) -> None:
    events: list[StreamEvent] = [ReplyStarted("r4711", "kit-model")]
    for choice, text in enumerate(("one4711", "two4712")):
        events += [
            PartStarted(0, Text(text=""), choice),
            PartGrew(0, text, choice),
            PartEnded(0, choice),
        ]
    events += [ChoiceEnded("stop", 0), ChoiceEnded("length", 1)]
    body, losses = harness.write_stream([[event] for event in events])
    expect(bool(losses) or b"two4712" in body, body)
    expect(b"one4711" in body, body)
    cited, losses = harness.write_stream(
        [
            events[:3],
            [CitationAdded(0, Citation(url="https://kit.example/4711"))],
            [PartEnded(0), ChoiceEnded("stop")],
        ]
    )
    expect(bool(losses) or b"https://kit.example/4711" in cited, "a source:", cited)


LAWS: tuple[Law, ...] = (
    over,
    whole_frames,
    thinking_in_pieces,
    failure_agrees,
    steady,
    second_answer,
)
