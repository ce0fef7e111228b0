"""Streams at the chat endpoints: early heads, late failures, keep-alives."""

import json
import time

import httpx2
import pytest
from chat_endpoints import BODIES, CLAUDE, CLAUDE_VENDOR, GPT_VENDOR, PATHS, gpt_stream, post
from fake_vendor import MockResponse
from served_gateway import Served


@pytest.mark.parametrize(
    ("wire", "first", "beat"),
    [("openai-responses", b": keepalive\n\n", 2.5), ("claude", b"event: ping\n", 0.3)],
)
def test_a_slow_stream_opens_early(
    here: Served, http: httpx2.Client, wire: str, first: bytes, beat: float
) -> None:
    GPT_VENDOR.say = lambda _: MockResponse.stream(*gpt_stream("late"), delay=2.6)
    began = time.monotonic()

    with http.stream(
        "POST", here.url + PATHS[wire], json={**BODIES[wire], "stream": True}
    ) as reported:
        pieces = reported.iter_raw()
        beginning = next(pieces)
        opened = time.monotonic() - began
        rest = b"".join(pieces)

    assert reported.status_code == 200
    assert reported.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert beginning.startswith(first)
    assert 1.8 < opened < 2.8
    assert b"late" in rest
    assert rest.count(first) >= (1 if beat < 1 else 0)


@pytest.mark.parametrize("wire", ["openai-responses", "claude"])
def test_an_early_failure_keeps_its_status(here: Served, http: httpx2.Client, wire: str) -> None:
    GPT_VENDOR.say = lambda _: MockResponse((b'{"error":{"message":"wrong"}}',), status=422)

    answer = post(http, here, wire, stream=True)

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("wire", ["openai-responses", "claude"])
def test_a_late_failure_is_an_error_event(
    here: Served, http: httpx2.Client, early: float, wire: str
) -> None:
    GPT_VENDOR.say = lambda _: MockResponse(
        (b'{"error":{"message":"wrong"}}',), status=422, delay=3 * early
    )

    answer = post(http, here, wire, stream=True)

    assert answer.status_code == 200
    last = answer.text.rstrip().rpartition("\n\n")[2]
    assert last.startswith("event: error\ndata: ")
    assert "wrong" in last
    assert here.rows()[0].http_status == 422


def test_a_quiet_messages_stream_is_kept_alive(here: Served, http: httpx2.Client) -> None:
    GPT_VENDOR.say = lambda _: MockResponse.stream(*gpt_stream("a", "b"), pause=0.5)

    answer = post(http, here, "claude", stream=True)

    assert answer.text.count("event: ping") >= 2
    assert answer.text.rstrip().endswith('"type":"message_stop"}')


def test_a_stream_is_passed_on_byte_for_byte(here: Served, http: httpx2.Client) -> None:
    frames = gpt_stream("one", "two")
    GPT_VENDOR.say = lambda _: MockResponse.stream(*frames)

    answer = post(http, here, "openai", stream=True)

    assert answer.content == b"".join(frames)


def test_the_received_part_of_a_broken_answer_is_counted(here: Served, http: httpx2.Client) -> None:
    start = {**json.loads(CLAUDE), "content": [], "stop_reason": None}
    empty = {"type": "text", "text": ""}
    block = {"type": "content_block_start", "index": 0, "content_block": empty}
    delta = {"type": "text_delta", "text": "x" * 400}
    frames = [
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in (
            {"type": "message_start", "message": start},
            block,
            {"type": "content_block_delta", "index": 0, "delta": delta},
        )
    ]
    CLAUDE_VENDOR.say = lambda _: MockResponse.stream(*frames, cut=True)

    answer = post(http, here, "claude", model="v-claude/m", stream=True)

    assert "event: error" in answer.text
    row = here.rows()[0]
    assert (row.status, row.estimated) == ("upstream_cut", True)
    assert (row.input_tokens, row.output_tokens) == (3, 100)
