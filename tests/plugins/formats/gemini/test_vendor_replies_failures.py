"""Answers that hold nothing, make no sense, break off or are errors."""

from typing import Any

import msgspec
import pytest

from gateway_core import (
    PartGrew,
    ReplyFailed,
    StreamEvent,
    Text,
    UpstreamError,
    Usage,
    VendorSide,
)
from gateway_formats.fold import gather


def content(*parts: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    made = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    return made if finish is None else {**made, "finishReason": finish}


def piece(*candidates: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": list(candidates), "modelVersion": "g", "responseId": "r", **more}


def framed(*found: Any) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % msgspec.json.encode(each) for each in found)


def events(vendor: VendorSide, *found: Any) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [*reader.feed(framed(*found)), *reader.close()]


@pytest.mark.parametrize(
    "candidate",
    [{}, {"content": {}}, {"content": None}, {"content": {"parts": None}}, content({})],
)
def test_a_candidate_may_hold_nothing(vendor: VendorSide, candidate: Any) -> None:
    written = piece({**candidate, "finishReason": "STOP"})

    assert vendor.read_reply(msgspec.json.encode(written)).choices[0].parts == ()


@pytest.mark.parametrize(
    "body", [b"", b"   ", b"{}", b"[]", b"null", b"<html>busy</html>", b"{broken", b'{"a": 1}']
)
def test_rubbish_is_an_upstream_error(vendor: VendorSide, body: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        vendor.read_reply(body)

    assert caught.value.status == 502
    reader = vendor.stream_reader()
    *_, last = [*reader.feed(body), *reader.close()]
    assert isinstance(last, ReplyFailed)


ERROR = {"error": {"code": 429, "message": "Slow down.\nNow.", "status": "RESOURCE_EXHAUSTED"}}


@pytest.mark.parametrize("body", [ERROR, [ERROR]], ids=["alone", "in a list"])
def test_an_error_with_status_200_is_an_error(vendor: VendorSide, body: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        vendor.read_reply(msgspec.json.encode(body))

    error = caught.value
    assert (error.message, error.status, error.kind) == ("Slow down.", 429, "RESOURCE_EXHAUSTED")
    reader = vendor.stream_reader()
    sent = msgspec.json.format(msgspec.json.encode(body))
    [failed] = [*reader.feed(sent[:20]), *reader.feed(sent[20:]), *reader.close()]
    assert failed == ReplyFailed("Slow down.", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 429)


def test_an_error_in_mid_stream_ends_it(vendor: VendorSide) -> None:
    found = events(vendor, piece(content({"text": "a"})), ERROR, piece(content({"text": "b"})))

    assert found[-1] == ReplyFailed("Slow down.", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 429)
    assert found[-2] == PartGrew(0, "a")


@pytest.mark.parametrize(
    "frame",
    [
        b"data: {broken\r\n\r\n",
        b"data: 5\r\n\r\n",
        b'data: {"candidates": 5}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [5]}}]}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [{"text": 5}]}}]}\r\n\r\n',
        b"data: " + b"[" * 5000 + b"\r\n\r\n",
        b'data: {"candidates": [{"content": {"parts": [{"text": "\xff"}]}}]}\r\n\r\n',
    ],
)
def test_a_frame_that_makes_no_sense_fails_the_stream(vendor: VendorSide, frame: bytes) -> None:
    reader = vendor.stream_reader()

    found = [*reader.feed(framed(piece(content({"text": "a"})))), *reader.feed(frame)]

    assert isinstance(found[-1], ReplyFailed)
    assert [*reader.feed(framed(piece(content(finish="STOP")))), *reader.close()] == []


def test_a_stream_that_breaks_off_has_failed(vendor: VendorSide) -> None:
    found = events(vendor, piece(content({"text": "a"})))

    assert isinstance(found[-1], ReplyFailed)
    assert "before the answer was complete" in found[-1].message


def test_marks_and_comments_of_others_are_passed_over(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()
    body = (
        b": ping\n\n" + framed(piece(content({"text": "a"}, finish="STOP"))) + b"data: [DONE]\n\n"
    )

    found = [*reader.feed(body), *reader.close()]

    assert gather(found).choices[0].parts == (Text(text="a"),)


def test_a_frame_without_end_is_refused(vendor: VendorSide) -> None:
    for start in (b"data: ", b'[{"x": "'):
        reader = vendor.stream_reader()

        found = [event for _ in range(18) for event in reader.feed(start + b"a" * (1 << 20))]

        assert len(found) == 1
        assert isinstance(found[0], ReplyFailed)


def test_more_after_the_end_is_still_the_answer(vendor: VendorSide) -> None:
    found = events(
        vendor,
        piece(content({"text": "a"}, finish="STOP")),
        piece(content({"text": "b"}, finish="STOP")),
        {"usageMetadata": {"promptTokenCount": 1}},
    )

    reply = gather(found)
    assert reply.choices[0].parts == (Text(text="ab"),)
    assert reply.usage == Usage(input_tokens=1)
