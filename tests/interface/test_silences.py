"""Every stream opens after two seconds, and no silence lasts longer than the operator wants."""

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import httpx2
import ollama
import openai
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from google import genai
from google.genai import types as genai_types
from served_gateway import Served, serve_gateway

from gateway_core.pipeline import client_response as clients
from gateway_core.pipeline.fast_path import stream as streaming

EARLY, BEAT = 0.25, 0.4
"""Seconds: until a stream is opened early, and between keep-alives."""
THINKING = 1.5
SLACK = 0.35
"""Seconds by which a loaded machine may be late."""


def chunk(reason: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**event, "choices": [choice]}).encode() + b"\n\n"


ROLE, WORD = chunk(role="assistant", content=""), chunk(content="Hi")
END = chunk("stop") + b"data: [DONE]\n\n"


def script(received: ReceivedRequest) -> MockResponse:
    model = received.json()["model"]
    if model == "quick":
        return MockResponse.stream(ROLE + WORD, END)
    if model == "refuses":
        return MockResponse((b'{"error":{"message":"no such luck"}}',), 400, delay=3 * EARLY)
    if model == "pauses":
        return MockResponse.stream(ROLE + WORD, chunk(content="!"), END, pause=THINKING)
    return MockResponse.stream(ROLE, WORD, END, pause=THINKING)


class Format(NamedTuple):
    """How a client format asks, and what its silences are filled with."""

    path: str
    body: dict[str, Any]
    frame: bytes
    text: bytes


TURN = {"messages": [{"role": "user", "content": "hello"}]}
FORMATS = {
    "chat": Format("/v1/chat/completions", TURN, b": keepalive\n\n", b'"Hi"'),
    "completions": Format("/v1/completions", {"prompt": "hello"}, b": keepalive\n\n", b'"Hi"'),
    "messages": Format(
        "/v1/messages", {**TURN, "max_tokens": 9}, b'event: ping\ndata: {"type": "ping"}\n\n', b"Hi"
    ),
    "responses": Format("/v1/responses", {"input": "hello"}, b": keepalive\n\n", b"Hi"),
    "gemini": Format(
        "/v1beta/models/{model}:streamGenerateContent?alt=sse",
        {"contents": [{"parts": [{"text": "hello"}]}]},
        b"\n\n",
        b'"Hi"',
    ),
    "ollama": Format("/api/chat", TURN, b" ", b'"Hi"'),
}
formats = pytest.mark.parametrize("name", FORMATS)
throughout = pytest.mark.parametrize("name", [name for name in FORMATS if name != "responses"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("silences")
    variables = {"SSE_KEEPALIVE_MS": str(int(BEAT * 1000))}
    with (
        pytest.MonkeyPatch.context() as patch,
        serve_gateway(folder, {"openai": script}, variables=variables) as gateway,
    ):
        patch.setattr(clients, "EARLY_AFTER", EARLY)
        patch.setattr(streaming, "EARLY_AFTER", EARLY)
        yield gateway


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    limits = httpx2.Limits(max_connections=1)
    with httpx2.Client(base_url=here.url, trust_env=False, limits=limits) as made:
        yield made


def timed(
    client: httpx2.Client, name: str, model: str = "thinks", **headers: str
) -> list[tuple[float, bytes]]:
    """The pieces of a stream, each with its time since the request."""
    wire, full = FORMATS[name], f"v-openai/{model}"
    # There the path says both, and the body has no such members.
    named = {} if name == "gemini" else {"model": full, "stream": True}
    body = {**named, **wire.body}
    begun = time.monotonic()
    path = wire.path.format(model=full)
    with client.stream("POST", path, json=body, headers=headers) as answer:
        assert answer.status_code == 200
        return [
            (0.0, b""),
            (time.monotonic() - begun, b""),
            *((time.monotonic() - begun, piece) for piece in answer.iter_raw()),
        ]


def whole(pieces: list[tuple[float, bytes]]) -> bytes:
    return b"".join(piece for _, piece in pieces)


@pytest.mark.parametrize("way", ["usual", "quick"])
@formats
def test_a_stream_opens_although_its_vendor_thinks(
    client: httpx2.Client, taken: list[bool], name: str, way: str
) -> None:
    if way == "quick":
        timed(client, name, "quick")

    pieces = timed(client, name)
    quick = timed(client, name, "quick")

    frame, text = FORMATS[name].frame, FORMATS[name].text
    assert all(taken)
    assert EARLY - 0.05 <= pieces[1][0] < EARLY + SLACK
    assert pieces[2][1] == frame
    assert text in whole(pieces)
    assert whole(pieces).replace(frame, b"").count(b"\n") == (
        whole(quick).replace(frame, b"").count(b"\n")
    )


@pytest.mark.parametrize("way", ["usual", "quick"])
@throughout
def test_no_silence_is_longer_than_the_operator_wants(
    client: httpx2.Client, name: str, way: str
) -> None:
    if way == "quick":
        timed(client, name, "quick")

    times = [when for when, _ in timed(client, name, "pauses")]

    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert max(gaps) <= BEAT * 1.1 + SLACK


def test_a_ping_comes_one_interval_after_the_last_byte(client: httpx2.Client) -> None:
    timed(client, "chat", "quick")
    pieces = [(when, piece) for when, piece in timed(client, "chat", "pauses") if piece]

    last = next(when for when, piece in pieces if b"Hi" in piece)
    ping = next(when for when, piece in pieces if when > last)

    assert BEAT - 0.05 <= ping - last <= BEAT * 1.1 + SLACK


@formats
def test_a_late_refusal_ends_the_stream_as_the_format_does(
    client: httpx2.Client, name: str
) -> None:
    written = whole(timed(client, name, "refuses"))

    assert written.startswith(FORMATS[name].frame)
    assert b"no such luck" in written
    assert (b"event: error" in written) is (name in ("messages", "responses"))


def test_a_client_that_fails_on_empty_frames_gets_none(client: httpx2.Client) -> None:
    written = whole(timed(client, "gemini", **{"x-goog-api-client": "genai-js/0.24.1"}))

    assert written.startswith(b"data: ")
    assert b"\n\n\n" not in written


def ask_openai(url: str, model: str) -> str:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        messages: Any = TURN["messages"]
        chunks = client.chat.completions.create(model=model, messages=messages, stream=True)
        return "".join(each.choices[0].delta.content or "" for each in chunks)


def ask_completions(url: str, model: str) -> str:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        chunks = client.completions.create(model=model, prompt="hello", stream=True)
        return "".join(each.choices[0].text for each in chunks)


def ask_responses(url: str, model: str) -> str:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.stream(model=model, input="hello") as events,
    ):
        return events.until_done().get_final_response().output_text


def ask_claude(url: str, model: str) -> str:
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        messages: Any = TURN["messages"]
        with client.messages.stream(model=model, max_tokens=9, messages=messages) as events:
            return events.get_final_text()


def ask_gemini(url: str, model: str) -> str:
    options = genai_types.HttpOptions(base_url=url)
    client = genai.Client(api_key="none", http_options=options)
    try:
        chunks = client.models.generate_content_stream(model=model, contents="hello")
        return "".join(each.text or "" for each in chunks)
    finally:
        client.close()


def ask_ollama(url: str, model: str) -> str:
    with ollama.Client(host=url) as client:
        chunks = client.chat(model=model, messages=TURN["messages"], stream=True)
        return "".join(each.message.content or "" for each in chunks)


SDKS: list[Callable[[str, str], str]] = [
    *(ask_openai, ask_completions, ask_responses, ask_claude, ask_gemini, ask_ollama)
]


@pytest.mark.parametrize("ask", SDKS)
@pytest.mark.parametrize("model", ["thinks", "pauses"])
def test_the_vendors_own_clients_do_not_mind(
    here: Served, ask: Callable[[str, str], str], model: str
) -> None:
    assert ask(here.url, f"v-openai/{model}") == {"thinks": "Hi", "pauses": "Hi!"}[model]


@pytest.mark.parametrize("ask", SDKS)
def test_the_vendors_own_clients_see_a_late_refusal(
    here: Served, ask: Callable[[str, str], str]
) -> None:
    with pytest.raises(Exception, match="no such luck"):
        ask(here.url, "v-openai/refuses")
