"""How answers end: well, early, in errors and in rubbish; and what they count."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gateway_core import (
    Choice,
    ChoiceEnded,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather

Json = dict[str, Any]
Hear = Callable[..., list[StreamEvent]]

CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "created_at": 5}}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
USAGE = {"input_tokens": 3, "output_tokens": 2}


def delta(kind: str, text: str, index: int = 0, **more: Any) -> Json:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **more}


def completed(*output: Json, **more: Any) -> Json:
    written = {"id": "resp_1", "model": "m", "status": "completed", "usage": USAGE, **more}
    return {"type": "response.completed", "response": {**written, "output": list(output)}}


def message(text: str, **more: Any) -> Json:
    return {**MESSAGE, "content": [{"type": "output_text", "text": text, **more}]}


@pytest.fixture
def hear(vendor: VendorSide) -> Hear:
    def heard(*frames: Json | bytes) -> list[StreamEvent]:
        reader = vendor.stream_reader()
        events: list[StreamEvent] = []
        for frame in frames:
            data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
            events += reader.feed(b"data: %b\n\n" % data)
        return [*events, *reader.close()]

    return heard


def parts(events: Sequence[StreamEvent]) -> list[Any]:
    return list(gather(events).choices[0].parts)


@pytest.mark.parametrize(
    ("more", "finish"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": None}, "length"),
        ({"incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "pause"),
        ({"status": None}, "stop"),
    ],
)
def test_why_an_answer_ended(hear: Hear, more: Json, finish: str) -> None:
    events = hear(CREATED, completed(message("x"), **more))

    assert events[-1] == ChoiceEnded(finish)  # type: ignore[arg-type]


def test_an_incomplete_answer_may_say_so_by_its_event_alone(hear: Hear) -> None:
    last = {"type": "response.incomplete", "response": {"output": []}}

    assert hear(CREATED, last)[-1] == ChoiceEnded("length")


def test_an_answer_may_begin_anywhere(hear: Hear) -> None:
    events = hear(delta("output_text", "a"), completed(message("a")))

    assert events[0] == ReplyStarted("", "")
    assert parts(events) == [Text(text="a")]


FAILED = {
    "type": "response.failed",
    "response": {"error": {"code": "rate_limit_exceeded", "message": "try again in 2s"}},
}


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (
            FAILED,
            ReplyFailed("try again in 2s", None, "rate_limit_exceeded", 429, 2.0),
        ),
        (
            {"type": "error", "code": "server_error", "message": "oh\nno", "param": None},
            ReplyFailed("oh", None, "server_error", 500),
        ),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            ReplyFailed("busy", "overloaded_error", None, 503),
        ),
        ({"type": "error", "error": "plain"}, ReplyFailed("plain")),
        ({"type": "error", "code": 418}, ReplyFailed("418", None, "418", 418)),
        ({"type": "response.failed"}, ReplyFailed("The upstream failed without a reason")),
        (
            {"type": "response.completed", "response": {"error": {"message": "late"}}},
            ReplyFailed("late"),
        ),
    ],
)
def test_a_failure_ends_the_answer(hear: Hear, frame: Json, expected: ReplyFailed) -> None:
    events = hear(CREATED, frame, delta("output_text", "after"), completed())

    assert events[-1] == expected
    assert len(events) == 2


def test_a_failed_answer_still_has_its_usage(hear: Hear) -> None:
    frame = {"type": "response.failed", "response": {"usage": USAGE, "error": {"message": "x"}}}

    assert hear(CREATED, frame)[1:] == [
        UsageReported(Usage(input_tokens=3, output_tokens=2)),
        ReplyFailed("x"),
    ]


def test_an_error_is_known_by_its_event_name_too(vendor: VendorSide) -> None:
    events = vendor.stream_reader().feed(b'event: error\ndata: {"error":{"message":"x"}}\n\n')

    assert events == [ReplyFailed("x")]


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b"7", b'{"type":"response.output_text.delta","delta":7}', b"\xff\xfe"],
)
def test_rubbish_ends_the_answer(hear: Hear, data: bytes) -> None:
    events = hear(CREATED, data, completed())

    assert isinstance(events[-1], ReplyFailed)
    assert len(events) == 2


@pytest.mark.parametrize("frames", [[], [CREATED], [CREATED, delta("output_text", "a")]])
def test_an_early_end_is_a_failure(hear: Hear, frames: list[Json]) -> None:
    last = hear(*frames)[-1]

    assert isinstance(last, ReplyFailed)
    assert "before the answer was complete" in last.message


def test_what_follows_the_end_is_not_looked_at(hear: Hear) -> None:
    written = [CREATED, completed(message("a"))]

    assert hear(*written, b"[DONE]", b"rubbish", CREATED) == hear(*written)


def test_a_last_frame_may_lack_its_blank_line(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()
    reader.feed(b"data: %b\r\n\r\n" % json.dumps(CREATED).encode())
    events = [*reader.feed(b"data: %b" % json.dumps(completed()).encode()), *reader.close()]

    assert events[-1] == ChoiceEnded("stop")
    assert reader.feed(b"data: x\n\n") == ()


def test_comments_and_pings_mean_nothing(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()

    assert reader.feed(b": PROCESSING\n\n") == []
    assert reader.feed(b"event: ping\ndata: {}\n\n") == []
    assert reader.feed(b'event: keepalive\ndata: {"type":"keepalive"}\n\n') == []


def test_a_frame_without_end_is_a_failure(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()

    events = reader.feed(b"data: " + b"x" * (17 * 1024 * 1024))

    assert isinstance(events[-1], ReplyFailed)
    assert reader.close() == ()


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -1, "output_tokens": 10**12},
        {"input_tokens": 1.5, "output_tokens": "2"},
        {"input_tokens": True},
        {"input_tokens_details": 7, "output_tokens_details": []},
        "many",
        {},
    ],
)
def test_counts_that_make_no_sense_are_not_reported(hear: Hear, usage: Any) -> None:
    events = hear(CREATED, completed(message("a"), usage=usage))

    assert not any(isinstance(event, UsageReported) for event in events)


def test_all_counts_are_read(vendor: VendorSide) -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "output_tokens": 8,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 99,
    }

    reply = vendor.read_reply(json.dumps({"output": [], "usage": usage}).encode())

    assert reply.usage == Usage(
        input_tokens=10,
        output_tokens=8,
        cached_tokens=4,
        cache_write_tokens=3,
        reasoning_tokens=5,
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "could not be read"),
        (b"<html>", "could not be read"),
        (b'{"object":"list"}', "could not be read"),
        (b'{"output":[7]}', "could not be read"),
        (b'{"output":null,"error":{"message":"bad","code":"server_error"}}', "bad"),
        (b'{"output":[],"status":"failed"}', "failed"),
        (b'{"output":[],"status":"cancelled"}', "cancelled"),
    ],
)
def test_an_answer_that_is_none_is_an_error(vendor: VendorSide, body: bytes, words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        vendor.read_reply(body)


def test_the_least_answer_is_read(vendor: VendorSide) -> None:
    body = {"output": [{"type": "message", "content": None}], "created_at": "yesterday"}

    reply = vendor.read_reply(json.dumps(body).encode())

    assert reply == Reply(id="", model="", choices=(Choice(),), dialect="openai-responses")
