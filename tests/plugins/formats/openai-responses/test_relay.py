"""Answers that pass from a vendor to a client of the same format."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from corpus import Item, answer, items, named
from gateway_format_openai_responses.grammar import GRAMMAR
from msgspec import Raw
from openai import APIError, OpenAI
from openai._streaming import Stream
from openai.types.responses import ResponseStreamEvent

from gateway_core import Call, ReplyFailed, Target, Usage, VendorSide
from gateway_formats.grammar import find_violation

Json = dict[str, Any]
Aim = Callable[..., Target]
ODD = {"error_mid_stream", "bad_json_event", "joined_turns"}
GOOD = [item for item in items("openai_responses") if item["response_status"] == 200]
STREAMS = [item for item in GOOD if item["stream"] and not ODD & set(item["features"])]
WHOLE = [item for item in GOOD if not item["stream"] and b'"output"' in answer(item)]

CREATED = {
    "type": "response.created",
    "sequence_number": 0,
    "response": {"id": "resp_1", "object": "response", "status": "in_progress", "error": None},
}
ADDED = {
    "type": "response.output_item.added",
    "sequence_number": 1,
    "output_index": 0,
    "item": {"type": "message"},
}
DELTA = {
    "type": "response.output_text.delta",
    "sequence_number": 2,
    "output_index": 0,
    "delta": "four",
}
COMPLETED = {
    "type": "response.completed",
    "sequence_number": 3,
    "response": {"usage": {"input_tokens": 3, "output_tokens": 2}},
}


def frame(data: Json) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


@pytest.fixture
def relay(vendor: VendorSide, call: Callable[..., Call], aim: Aim) -> Callable[[], Any]:
    return lambda: vendor.relay(call({}, stream=True), aim(), {"stream": Raw(b"true")})


def whole_stream(item: Item) -> bytes:
    """The recording, with the blank line that ends a last frame."""
    return answer(item).rstrip(b"\r\n") + b"\n\n"


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_passes_as_it_came(item: Item, relay: Callable[[], Any]) -> None:
    body, passing = whole_stream(item), relay()
    third = max(1, len(body) // 3)
    chunks = [body[at : at + third] for at in range(0, len(body), third)]

    passed = b"".join(passing.feed(chunk) for chunk in chunks) + passing.close()

    assert passed == body
    assert find_violation(GRAMMAR, passed) is None
    assert passing.failure is None
    assert passing.started
    usage = final(body).get("usage")
    if usage is not None and usage["input_tokens"]:
        assert passing.usage.input_tokens == usage["input_tokens"]


def final(body: bytes) -> Json:
    last: Json = {}
    for line in body.decode().splitlines():
        if line.startswith(("data: {", "data:{")) and (
            'response.completed"' in line[:400] or "response.incomplete" in line[:400]
        ):
            last = json.loads(line[5:])["response"]
    return last


@pytest.mark.parametrize("item", STREAMS[:4], ids=named)
@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
def test_a_stream_that_breaks_off_ends_in_an_error(
    item: Item, cut: float, relay: Callable[[], Any]
) -> None:
    body, passing = whole_stream(item), relay()

    passed = passing.feed(body[: int(len(body) * cut)]) + passing.close()

    assert find_violation(GRAMMAR, passed) is None
    assert passing.failure is not None
    assert passed.count(b"event: error\n") == 1


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_passes_as_it_came(
    item: Item, vendor: VendorSide, call: Callable[..., Call], aim: Aim
) -> None:
    passing = vendor.relay(call({}), aim(), {})

    passed = passing.feed(answer(item)) + passing.close()

    assert passed == answer(item)
    usage = json.loads(passed).get("usage") or {}
    assert (passing.usage or Usage()).output_tokens == usage.get("output_tokens", 0)


def test_a_whole_answer_that_is_an_error_is_not_passed(
    vendor: VendorSide, call: Callable[..., Call], aim: Aim
) -> None:
    for body in (b'{"error":{"message":"bad"}}', b"rubbish", b'{"object":"list"}'):
        passing = vendor.relay(call({}), aim(), {})

        assert passing.feed(body) + passing.close() == b""
        assert passing.failure is not None


def test_a_header_may_ask_for_the_stream(
    vendor: VendorSide, call: Callable[..., Call], aim: Aim
) -> None:
    members = {"model": Raw(b'"m"')}
    streamed = {"model": Raw(b'"m"')}

    vendor.relay(call({}), aim(), members)
    vendor.relay(call({}, stream=True), aim(), streamed)

    assert members == {"model": Raw(b'"m"')}
    assert streamed == {"model": Raw(b'"m"'), "stream": Raw(b"true")}


def test_what_is_learnt_on_the_way(relay: Callable[[], Any]) -> None:
    passing = relay()

    passing.feed(frame(CREATED))
    begun = passing.started
    passing.feed(frame(ADDED) + frame(DELTA))
    passing.feed(frame(COMPLETED))

    assert (begun, passing.started, passing.characters) == (False, True, 4)
    assert passing.usage == Usage(input_tokens=3, output_tokens=2)
    assert passing.close() == b""


def test_an_error_frame_goes_on_counting_and_ends_the_answer(relay: Callable[[], Any]) -> None:
    passing = relay()
    before = passing.feed(frame(CREATED) + frame(ADDED) + frame(DELTA))

    last = passing.fail(ReplyFailed("gone", status=504))

    assert find_violation(GRAMMAR, before + last) is None
    error, failed = [json.loads(part.split(b"data: ")[1]) for part in last.split(b"\n\n")[:2]]
    assert (error["sequence_number"], failed["sequence_number"]) == (3, 4)
    assert failed["response"] == {
        "id": "resp_1",
        "object": "response",
        "status": "failed",
        "error": {"code": "server_error", "message": "gone"},
    }
    assert passing.feed(frame(COMPLETED)) == passing.close() == b""


@pytest.mark.parametrize("response", [b'{"\xff":1}', b'{"a":1e999}', b'"a"', b"null", b"[]"])
def test_an_object_that_cannot_be_read_is_not_told_again(
    response: bytes, relay: Callable[[], Any]
) -> None:
    passing = relay()
    created = b'event: response.created\ndata: {"type":"response.created","response":%b}\n\n'
    passing.feed(created % response)

    ended = passing.fail(ReplyFailed("gone"))

    assert ended.startswith(b"event: error\n")
    assert ended.count(b"event: ") == 1


def test_numbers_are_counted_where_the_vendor_gives_none(relay: Callable[[], Any]) -> None:
    passing = relay()
    for data in (CREATED, ADDED):
        passing.feed(frame({n: v for n, v in data.items() if n != "sequence_number"}))

    last = passing.fail(ReplyFailed("gone"))

    assert b'"sequence_number":2' in last


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "error", "sequence_number": 3, "error": {"code": "server_error", "message": "x"}},
        {"type": "error", "sequence_number": 3, "code": "server_error", "message": "x"},
        {
            "type": "response.failed",
            "sequence_number": 3,
            "response": {
                "error": {"code": "server_error", "message": "x"},
                "usage": {"output_tokens": 9},
            },
        },
    ],
)
def test_the_vendors_own_error_is_told_in_our_words(bad: Json, relay: Callable[[], Any]) -> None:
    passing = relay()

    passed = passing.feed(frame(CREATED) + frame(ADDED) + frame(DELTA) + frame(bad))

    assert find_violation(GRAMMAR, passed) is None
    assert passing.failure == ReplyFailed("x", None, "server_error", 500)
    assert (passing.usage is not None) == (bad["type"] == "response.failed")


def test_what_follows_the_end_is_left_out(relay: Callable[[], Any]) -> None:
    passing = relay()
    good = frame(CREATED) + frame(ADDED) + frame(DELTA) + frame(COMPLETED) + b"data: [DONE]\n\n"

    passed = passing.feed(good + frame(CREATED) * 3000) + passing.close()

    assert passed == good
    assert passing.fail(ReplyFailed("late")) == b""


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b'{"type":"response.completed","response":7}'],
)
def test_rubbish_is_not_passed(data: bytes, relay: Callable[[], Any]) -> None:
    passing = relay()

    passed = passing.feed(frame(CREATED) + b"data: %b\n\n" % data)

    assert b"data: %b\n\n" % data not in passed
    assert find_violation(GRAMMAR, passed) is None
    assert passing.failure is not None


def test_an_event_nobody_knows_passes(relay: Callable[[], Any]) -> None:
    novelty = {"type": "response.novelty", "sequence_number": 1, "delta": {"x": 1}}
    passing = relay()

    passed = passing.feed(
        frame(CREATED) + frame(novelty) + b'event: ping\ndata: {"type":"ping"}\n\n'
    )

    assert frame(novelty) in passed
    assert passed.endswith(b'data: {"type":"ping"}\n\n')
    assert passing.started


class _Answered:
    """As much of an answer as the vendor's library needs to read a stream."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.request = None

    def iter_bytes(self) -> list[bytes]:
        return [self._body]

    def close(self) -> None:
        """There is nothing to close."""


def test_the_library_takes_an_error_for_an_error(relay: Callable[[], Any]) -> None:
    passing = relay()
    passed = passing.feed(frame(CREATED)) + passing.fail(ReplyFailed("gone", status=503))
    client = OpenAI(api_key="none")
    events: Any = ResponseStreamEvent
    stream: Stream[Any] = Stream(
        cast_to=events,
        response=_Answered(passed),  # type: ignore[arg-type]
        client=client,
    )

    with pytest.raises(APIError, match="gone"):
        list(stream)


@pytest.mark.parametrize(
    ("stream", "sound"),
    [
        (frame(CREATED) + frame(ADDED) + frame(DELTA) + frame(COMPLETED), True),
        (b'event: error\ndata: {"error":{"message":"late"}}\n\n', True),
        (b": keepalive\n\n" + frame(CREATED) + b'event: error\ndata: {"error":{}}\n\n', True),
        (b"", False),
        (frame(CREATED), False),
        (frame(CREATED) + frame(DELTA) + frame(COMPLETED), False),
        (frame(CREATED) + frame(ADDED) + frame(COMPLETED), False),
        (frame(ADDED) + frame(CREATED) + frame(COMPLETED), False),
        (frame(COMPLETED) + frame(COMPLETED), False),
        (frame(CREATED) + b"data: rubbish\n\n", False),
        (frame(CREATED) + b"data: {}\n\n", False),
        (frame(COMPLETED).replace(b"event: response.completed", b"event: other"), False),
        (frame(COMPLETED) + b'event: error\ndata: {"error":{}}\n\n', False),
    ],
)
def test_the_grammar_tells_a_sound_stream_from_a_broken_one(stream: bytes, sound: bool) -> None:
    assert (find_violation(GRAMMAR, stream) is None) == sound
