"""A piece that brings more of a text is read in one step, or not at all, and says the same."""

from typing import Any

import msgspec
import pytest
from gateway_format_gemini import vendor_stream as streams
from gateway_format_gemini.vendor_replies import reply as replies
from gateway_format_gemini.vendor_replies.plain_pieces import read_piece
from gateway_format_gemini.vendor_replies.reply import OpenReply
from gateway_format_gemini.vendor_stream import GeminiStreamReader
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import PartGrew, StreamEvent

COUNTS = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 1}
END = {"finishReason": "STOP"}


def piece(part: Any, counts: Any = None, **more: Any) -> bytes:
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
    said: dict[str, Any] = {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}
    return msgspec.json.encode(said if counts is None else {**said, "usageMetadata": counts})


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
pieces = st.builds(lambda part, said, rest: piece(part, said, **rest), parts, counts, more)


def slowly(payloads: list[bytes]) -> list[list[StreamEvent]]:
    reply = OpenReply()
    return [*(_any(reply, payload) for payload in payloads), reply.end()]


def _any(reply: OpenReply, payload: bytes) -> list[StreamEvent]:
    return [] if reply.failed else reply._take_any(payload)


@given(st.lists(pieces, max_size=6))
def test_the_quick_way_says_what_the_slow_way_says(payloads: list[bytes]) -> None:
    reply, reader = OpenReply(), GeminiStreamReader()

    quick = [*map(reply.take, payloads), reply.end()]
    skimmed = [*(list(reader.feed(frame(each))) for each in payloads), list(reader.close())]

    slow = slowly(payloads)
    assert quick == slow
    assert skimmed == slow


@pytest.mark.parametrize(
    "told", [piece({"text": "a"}), piece({"text": "a", "thought": True}, COUNTS)]
)
def test_the_usual_piece_goes_the_quick_way(told: bytes) -> None:
    assert read_piece(told) is not None


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\n\n"])
def test_pieces_that_differ_in_their_text_alone_are_not_read(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, read = GeminiStreamReader(), list[bytes]()
    frames = [frame(piece({"text": f"a{n}"}, COUNTS), end) for n in range(9)]

    def noted(payload: bytes) -> object:
        read.append(payload)
        return read_piece(payload)

    monkeypatch.setattr(replies, "read_piece", noted)
    events = [event for each in frames for event in reader.feed(each)]

    assert len(read) == 1
    assert [event.text for event in events if isinstance(event, PartGrew)] == [
        f"a{n}" for n in range(9)
    ]


def test_nothing_is_learnt_of_half_a_frame() -> None:
    reader = GeminiStreamReader()
    whole, half = frame(piece({"text": "a"})), frame(piece({"text": "b"}))
    cut = half.index(b'"text"')

    reader.feed(whole)
    reader.feed(half[:cut])
    reader.feed(half[cut:])

    assert list(reader.feed(half[cut:])) == []


def test_most_pieces_of_an_odd_stream_are_not_learnt_from() -> None:
    reader = GeminiStreamReader()
    for number in range(streams.TRIES + 20):
        told = {**COUNTS, "promptTokenCount": 9, "x": number}
        reader.feed(frame(piece({"text": f"a{number}"}, told)))

    assert reader._tries == 0
