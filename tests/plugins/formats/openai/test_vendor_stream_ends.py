"""How a stream ends: reasons, usage, failures, and vendors with ways of their own."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    PartEnded,
    PartGrew,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Usage,
    UsageReported,
    VendorSide,
)

DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, *, finish: str | None = None, index: int = 0, **members: Any) -> bytes:
    choice: dict[str, Any] = {"index": index, "delta": delta or {}, "finish_reason": finish}
    choice |= members.pop("choice", {})
    written = {"id": "r1", "model": "m", "created": 7, "choices": [choice], **members}
    return b"data: %b\n\n" % msgspec.json.encode(written)


def read(vendor: VendorSide, *frames: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for frame in frames for event in reader.feed(frame)] + list(reader.close())


def test_log_probabilities_ride_on_their_text(vendor: VendorSide) -> None:
    tokens = {"content": [{"token": "a", "logprob": -1}], "refusal": None}
    odd = {"content": None, "refusal": None}
    events = read(
        vendor,
        chunk({"content": "a"}, choice={"logprobs": tokens}),
        chunk({"content": "b"}, choice={"logprobs": odd}),
        chunk({"content": "c"}, choice={"logprobs": -1.5}),
        chunk(finish="stop", choice={"logprobs": tokens}),
    )

    raw = Raw(b'{"content":[{"token":"a","logprob":-1}]}')
    assert [event for event in events if isinstance(event, PartGrew)] == [
        PartGrew(0, "a", 0, raw),
        PartGrew(0, "b"),
        PartGrew(0, "c"),
        PartGrew(0, "", 0, raw),
    ]


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("eos", "stop"),
        ("whatever", "stop"),
        ("insufficient_system_resource", "error"),
    ],
)
def test_the_reason_to_end(vendor: VendorSide, word: str, finish: Any) -> None:
    assert read(vendor, chunk({"content": "a"}), chunk(finish=word))[-1] == ChoiceEnded(finish)


def test_the_stop_sequence_that_was_met(vendor: VendorSide) -> None:
    events = read(vendor, chunk(finish="stop", choice={"stop_reason": "END"}))
    number = read(vendor, chunk(finish="stop", choice={"stop_reason": 154827}))

    assert events[-1] == ChoiceEnded("stop", 0, "END")
    assert number[-1] == ChoiceEnded("stop")


def test_usage_is_reported_when_it_changes(vendor: VendorSide) -> None:
    def counted(prompt: int, completion: int) -> dict[str, int]:
        return {"prompt_tokens": prompt, "completion_tokens": completion}

    events = read(
        vendor,
        chunk({"content": "a"}, usage=counted(0, 0)),
        chunk({"content": "a"}, usage=counted(3, 1)),
        chunk({"content": "a"}, usage=counted(3, 1)),
        chunk(finish="stop", x_groq={"usage": counted(3, 2)}),
    )

    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported == [
        Usage(input_tokens=3, output_tokens=1),
        Usage(input_tokens=3, output_tokens=2),
    ]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(
                input_tokens=10,
                output_tokens=5,
                cached_tokens=4,
                cache_write_tokens=3,
                reasoning_tokens=2,
            ),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=10, output_tokens=5, cached_tokens=4),
        ),
        (
            {
                "prompt_tokens": 16,
                "completion_tokens": 100,
                "total_tokens": 538,
                "completion_tokens_details": {"reasoning_tokens": 422},
            },
            Usage(input_tokens=16, output_tokens=522, reasoning_tokens=422),
        ),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 161},
            },
            Usage(input_tokens=168, output_tokens=8, cached_tokens=161),
        ),
        (
            {
                "prompt_tokens": 43,
                "completion_tokens": 10,
                "total_tokens": 53,
                "completion_tokens_details": {"reasoning_tokens": 11},
            },
            Usage(input_tokens=43, output_tokens=10, reasoning_tokens=10),
        ),
        ({"input_tokens": 1, "output_tokens": 2}, Usage(input_tokens=1, output_tokens=2)),
        (
            {"prompt_tokens": -1, "completion_tokens": 2, "num_cached_tokens": 2_000_000_000},
            Usage(output_tokens=2),
        ),
        (
            {"prompt_tokens": 1.5, "completion_tokens": True, "input_tokens": 3},
            Usage(input_tokens=3),
        ),
        ({"prompt_tokens": "many"}, None),
        ([], None),
    ],
)
def test_tokens_are_counted_as_the_hub_counts(
    vendor: VendorSide, counts: Any, expected: Usage | None
) -> None:
    events = read(vendor, chunk(finish="stop", usage=counts))

    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported == ([] if expected is None else [expected])


def test_a_reason_ends_an_answer_that_has_no_marker(vendor: VendorSide) -> None:
    frames = chunk({"content": "a"}) + chunk(finish="stop")

    assert read(vendor, frames)[-1] == ChoiceEnded("stop")
    assert read(vendor, frames.removesuffix(b"\n\n"))[-1] == ChoiceEnded("stop")


def test_an_answer_that_breaks_off_is_a_failure(vendor: VendorSide) -> None:
    for frames in (chunk({"content": "a"}), b"", b": ping\n\n"):
        events = read(vendor, frames)
        assert isinstance(events[-1], ReplyFailed)
        assert events[-1].message == (
            "The upstream ended the stream before the answer was complete"
        )


def test_one_choice_of_two_that_breaks_off_is_a_failure(vendor: VendorSide) -> None:
    events = read(
        vendor, chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk(finish="stop")
    )

    assert isinstance(events[-1], ReplyFailed)


def test_nothing_but_a_marker_is_a_failure(vendor: VendorSide) -> None:
    count = b'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n'

    assert read(vendor, DONE) == [ReplyFailed("The upstream gave an empty answer")]
    assert read(vendor, count, DONE)[-1] == ReplyFailed("The upstream gave an empty answer")


@pytest.mark.parametrize(
    "rubbish", [b"data: {\n\n", b"data: 5\n\n", b'data: {"choices":5}\n\n', b"data: \xff\n\n"]
)
def test_rubbish_is_a_failure_and_nothing_follows(vendor: VendorSide, rubbish: bytes) -> None:
    events = read(vendor, chunk({"content": "a"}), rubbish, chunk({"content": "b"}), DONE)

    assert events[-1] == ReplyFailed("The upstream sent an event that could not be read")
    assert PartGrew(0, "b") not in events


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (
            b'event: error\ndata: {"error":{"message":"bad","type":"t","code":"c",'
            b'"status_code":400}}\n\n',
            ReplyFailed("bad", "t", "c", 400),
        ),
        (
            b'data: {"error":{"message":"bad","code":502}}\n\n',
            ReplyFailed("bad", None, "bad_gateway", 502),
        ),
        (b'data: {"error":"bad"}\n\n', ReplyFailed("bad", None, "bad_gateway", 502)),
        (
            b'data: {"object":"error","message":"bad","type":"t"}\n\n',
            ReplyFailed("bad", "t", "bad_gateway", 502),
        ),
        (
            b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error",'
            b'"error":{"message":"bad","code":429}}]}\n\n',
            ReplyFailed("bad", None, "bad_gateway", 429),
        ),
        (
            b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}\n\n',
            ReplyFailed("The upstream broke off its answer"),
        ),
    ],
)
def test_an_error_in_the_stream_is_the_last_event(
    vendor: VendorSide, frame: bytes, expected: ReplyFailed
) -> None:
    events = read(vendor, chunk({"content": "a"}), frame, DONE)

    assert events[-1] == expected


@pytest.mark.parametrize(
    "frame",
    [
        b'data: {"error":null,"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"error":{},"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"type":"ping"}\n\n' + chunk({"content": "a"}),
        chunk({"content": "a"}, created="1715361795", choice={"finish_reason": ""}),
        b'data: {"choices":[{"index":null,"delta":{"content":"a","tool_calls":null}}]}\n\n',
        chunk({"content": "a", "reasoning": {"odd": 1}}),
    ],
)
def test_oddities_cost_nothing(vendor: VendorSide, frame: bytes) -> None:
    events = read(vendor, frame, chunk(finish="stop"), DONE)

    assert PartGrew(0, "a") in events
    assert events[-1] == ChoiceEnded("stop")


def test_a_frame_that_never_ends_is_a_failure(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()
    first = list(reader.feed(b"data: " + b"x" * (17 * 1024 * 1024)))

    assert isinstance(first[-1], ReplyFailed)
    assert list(reader.feed(chunk({"content": "a"}))) == []
    assert list(reader.close()) == []


def test_a_vendor_that_does_not_stream_after_all_is_understood(vendor: VendorSide) -> None:
    body = msgspec.json.encode(
        {
            "id": "r1",
            "model": "m",
            "choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}],
        }
    )
    events = read(vendor, body[:9], body[9:])

    assert events == [
        ReplyStarted("r1", "m"),
        PartStarted(0, Text(text="")),
        PartGrew(0, "ab"),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]


def test_an_error_with_status_200_and_no_stream_is_a_failure(vendor: VendorSide) -> None:
    assert read(vendor, b'{"error":{"message":"bad","code":"c"}}') == [
        ReplyFailed("bad", None, "c", 502)
    ]


def test_a_vendor_that_repeats_the_message_beside_the_delta_is_read_once(
    vendor: VendorSide,
) -> None:
    whole = {"message": {"role": "assistant", "content": "ab"}}
    events = read(
        vendor,
        chunk({"content": "a"}, choice={"message": {"content": "a"}}),
        chunk({"content": "b"}, choice=whole),
        chunk(finish="stop", choice=whole),
    )

    assert [event.text for event in events if isinstance(event, PartGrew)] == ["a", "b"]
