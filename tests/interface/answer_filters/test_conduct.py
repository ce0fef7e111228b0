"""Filters of answers on the wire: what is untouched, what breaks, what ends in mid-stream."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from answer_filters import SettableFilter, filter_plugin
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model

FIRST, SECOND = SettableFilter(), SettableFilter()
SECOND.order = 2
SAID = "The number 4111 is said, then 5222, and 6333 at last."
REQUEST = {"model": "v/m", "messages": [{"role": "user", "content": "Which numbers?"}]}


def chunk(**more: Any) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
    return b"data: %b\n\n" % json.dumps(body).encode()


def delta(text: str, **more: Any) -> bytes:
    return chunk(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None, **more}])


def answer(received: ReceivedRequest) -> MockResponse:
    """One character at a time, with log probabilities where they are asked for."""
    body = received.json()
    if not body.get("stream"):
        message = {"role": "assistant", "content": SAID}
        whole = {"index": 0, "message": message, "finish_reason": "stop"}
        if body.get("logprobs"):
            whole["logprobs"] = {"content": [{"token": SAID, "logprob": 0, "top_logprobs": []}]}
        usage = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}
        made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        text = json.dumps({**made, "choices": [whole], "usage": usage, "odd_member": 1})
        return MockResponse((text.encode(),))
    pieces = [delta(letter) for letter in SAID]
    if body.get("logprobs"):
        tokens = {"content": [{"token": "T", "logprob": 0, "top_logprobs": []}]}
        pieces[0] = delta("T", logprobs=tokens)
    end = [
        chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        chunk(choices=[], usage={"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}),
        b"data: [DONE]\n\n",
    ]
    if "break" in body["messages"][0]["content"]:
        end = [b'data: {"error":{"message":"It broke","type":"server_error"}}\n\n']
    if "in two" in body["messages"][0]["content"]:
        halves = b"".join(pieces[:30]), b"".join(pieces[30:] + end)
        return MockResponse.stream(*halves, pause=0.3)
    return MockResponse.stream(*pieces, *end)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(
        Path(tmp_path_factory.mktemp("gateway")),
        {"openai": answer},
        specs=lambda vendors: [
            keyless_provider("openai", vendors["openai"], id="v", models=(Model("m"),))
        ],
        plugins={"settable": filter_plugin(SECOND, FIRST)},
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def at_rest(here: Served) -> Iterator[None]:
    yield
    here.gateway.core.cooldowns.clear(["v:public"], "__all")
    for each in (FIRST, SECOND):
        each.mode, each.word, each.required = "", "", False


def ask(here: Served, **more: Any) -> httpx2.Response:
    return httpx2.post(f"{here.url}/v1/chat/completions", json={**REQUEST, **more}, timeout=30)


def ask_in_two(here: Served, **more: Any) -> httpx2.Response:
    """The vendor sends the answer in two pieces, some time apart."""
    messages = [{"role": "user", "content": "in two"}]
    return ask(here, stream=True, messages=messages, **more)


def said(response: httpx2.Response) -> str:
    frames = [line[6:] for line in response.text.split("\n") if line.startswith("data: {")]
    choices = [each for frame in frames for each in json.loads(frame).get("choices", ())]
    return "".join(each["delta"].get("content") or "" for each in choices)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_no_filter_opens_passes_byte_for_byte(here: Served, stream: bool) -> None:
    response = ask(here, stream=stream, stream_options={"include_usage": True})

    vendors = answer(here.vendors["openai"].received[-1])
    assert response.content == b"".join(vendors.pieces)
    assert [call.model for call, _ in FIRST.opened][-1] == "v/m"
    assert FIRST.opened[-1][1].provider.id == "v"


def test_filters_run_in_their_order(here: Served) -> None:
    FIRST.mode, FIRST.word = "hides", r"\d{4}"
    SECOND.mode, SECOND.word = "hides", "▇ is"

    assert said(ask(here, stream=True)) == "The number ▇ said, then ▇, and ▇ at last."
    content = ask(here).json()["choices"][0]["message"]["content"]
    assert content == "The number ▇ said, then ▇, and ▇ at last."


def test_an_answer_ends_in_mid_stream_and_is_charged(here: Served) -> None:
    FIRST.mode, FIRST.word = "stops", "5222"

    response = ask_in_two(here, stream_options={"include_usage": True})

    assert said(response) == f"{SAID[: 30 - 16]}That is not for you."
    assert "5222" not in response.text
    assert '"finish_reason":"content_filter"' in response.text
    assert response.text.endswith("data: [DONE]\n\n")
    row = here.rows()[0]
    assert (row.status, row.error_code, row.http_status) == ("ok", "answer_stopped", 200)
    assert row.output_tokens > 0
    assert row.input_tokens > 0


def test_an_error_ends_a_stream_with_the_formats_own_frame(here: Served) -> None:
    FIRST.mode, FIRST.word = "refuses", "6333"

    response = ask_in_two(here)

    assert said(response) == SAID[: 30 - 16]
    assert "6333" not in response.text
    assert "The answer holds what it may not" in response.text.rstrip().split("\n\n")[-1]
    row = here.rows()[0]
    assert (row.status, row.error_code) == ("error", "blocked")
    assert here.gateway.core.cooldowns.find(row.connection_id, "m") is None


def test_what_was_held_back_when_the_vendor_broke_off_comes_first(here: Served) -> None:
    FIRST.mode, FIRST.word = "hides", r"\d{4}"

    messages = [{"role": "user", "content": "break"}]
    response = ask(here, stream=True, messages=messages)

    assert said(response) == "The number ▇ is said, then ▇, and ▇ at last."
    assert "It broke" in response.text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", ["raises", "hangs", "fails to open"])
def test_a_broken_filter_is_passed_over(here: Served, mode: str, stream: bool) -> None:
    FIRST.mode = mode

    response = ask(here, stream=stream)

    assert response.status_code == 200
    shown = said(response) if stream else response.json()["choices"][0]["message"]["content"]
    assert shown == SAID
    FIRST.mode = "hides"  # One that works in between is not left out.
    ask(here)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", ["raises", "hangs", "fails to open"])
def test_a_broken_one_that_is_required_ends_the_answer(
    here: Served, mode: str, stream: bool
) -> None:
    [guarded] = [
        each for each in here.gateway.core.state.filtering.active if each.is_required is False
    ][:1]
    guarded.is_required, FIRST.mode = True, mode
    try:
        response = ask(here, stream=stream)
    finally:
        guarded.is_required = False

    assert response.status_code == 500
    assert SAID not in response.text
    assert "a bug" not in response.text
    assert here.rows()[0].status == "error"


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities_do_not_tell_what_was_hidden(here: Served, stream: bool) -> None:
    FIRST.mode, FIRST.word = "hides", r"\d{4}"

    response = ask(here, stream=stream, logprobs=True)

    assert "4111" not in response.text
    assert "logprobs" in response.headers.get("x-gateway-dropped", "") + response.text
