"""A piece that brings more of a text is read in one step, or not at all, and says the same."""

from typing import Any

import msgspec
import pytest
from gateway_format_gemini._growing_pieces import read_piece
from gateway_format_gemini._open_reply import OpenReply
from gateway_format_gemini.vendor_stream import GeminiStreamReader
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import StreamEvent

COUNTS = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 1}
END = {"finishReason": "STOP"}


def piece(part: Any, counts: Any = None, **more: Any) -> bytes:
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
    written: dict[str, Any] = {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}
    return msgspec.json.encode(written if counts is None else {**written, "usageMetadata": counts})


def frame(payload: bytes, end: bytes = b"\r\n\r\n") -> bytes:
    return b"data: " + payload + end


parts = st.sampled_from(
    [
        *({"text": "a"}, {"text": "é"}, {"text": ""}, {"text": "a", "thought": True}),
        *({"text": "a", "thought": False}, {"text": "a", "thoughtSignature": "s"}),
        *({"text": "a", "thought": 1}, {"text": None}, {"text": "a", "functionCall": {}}),
        *({"functionCall": {"name": "f"}}, {"text": "a", "x": 1}, {}),
    ]
)
counts = st.sampled_from(
    [
        *(None, None, {}, COUNTS, {**COUNTS, "promptTokenCount": 10}, {"promptTokenCount": -1}),
        *({**COUNTS, "cachedContentTokenCount": 3}, {**COUNTS, "toolUsePromptTokenCount": 2}),
        *({"promptTokenCount": 2**40}, {"promptTokenCount": 1.0}, {"promptTokenCount": "9"}, []),
    ]
)
more = st.sampled_from(
    [
        *({}, {}, {}, {"index": None}, {"index": 1}, {"index": -1}, END, {"finishReason": None}),
        *({"finishReason": 0}, {"safetyRatings": [{}]}, {"citationMetadata": {}}),
        *({"logprobsResult": {"chosenCandidates": [{"token": "a"}]}}, {"content": None}),
        {"groundingMetadata": {"groundingChunks": [{"web": {"uri": "http://a"}}]}},
    ]
)
pieces = st.builds(lambda part, written, rest: piece(part, written, **rest), parts, counts, more)


def slowly(payloads: list[bytes]) -> list[list[StreamEvent]]:
    reply = OpenReply()
    return [*([] if reply.failed else reply._read(each) for each in payloads), reply.end()]


@given(st.lists(pieces, max_size=6))
def test_the_short_cut_reads_what_the_general_way_reads(payloads: list[bytes]) -> None:
    reply, reader = OpenReply(), GeminiStreamReader()

    short = [*map(reply.read, payloads), reply.end()]
    streamed = [*(list(reader.feed(frame(each))) for each in payloads), list(reader.close())]

    general = slowly(payloads)
    assert short == general
    assert streamed == general


@pytest.mark.parametrize(
    "payload", [piece({"text": "a"}), piece({"text": "a", "thought": True}, COUNTS)]
)
def test_the_usual_piece_takes_the_short_cut(payload: bytes) -> None:
    assert read_piece(payload) is not None


def test_a_frame_in_two_pieces_is_read_once() -> None:
    reader = GeminiStreamReader()
    whole, half = frame(piece({"text": "a"})), frame(piece({"text": "b"}))
    cut = half.index(b'"text"')

    reader.feed(whole)
    reader.feed(half[:cut])
    reader.feed(half[cut:])

    assert list(reader.feed(half[cut:])) == []
