"""Vendors that compress although not asked to, and clients that compress what they send."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from body_packers import PACKERS, pack_stream
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

WORDS = ("Hel", "lo")
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
codings = pytest.mark.parametrize("coding", PACKERS)
endpoints = pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])


def chunk(text: str | None) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": None if text else "stop"}
    event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**event, "choices": [choice]}).encode() + b"\n\n"


def reply() -> bytes:
    message = {"role": "assistant", "content": "".join(WORDS)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    event = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**event, "choices": [choice], "usage": USAGE}).encode()


def script(received: ReceivedRequest) -> MockResponse:
    body = received.json()
    coding, _, kind = body["model"].partition("-")
    headers = {"Content-Encoding": coding}
    if kind == "refusal":
        error = {"message": "Slow down", "type": "rate_limit", "code": None}
        packed = PACKERS[coding](json.dumps({"error": error}).encode())
        return MockResponse((packed,), 400, headers=headers)
    if not body.get("stream"):
        return MockResponse((PACKERS[coding](reply()),), headers=headers)
    events = [*map(chunk, WORDS), chunk(None) + b"data: [DONE]\n\n"]
    return MockResponse.stream(*pack_stream(coding, events), headers=headers)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("compressed")
    with serve_gateway(folder, {"openai": script}) as gateway:
        yield gateway


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=here.url, trust_env=False) as made:
        yield made


def question(model: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hello"}]
    return {"model": f"v-openai/{model}", "max_tokens": 9, "messages": messages, **more}


def text_of(path: str, body: dict[str, Any]) -> str:
    if path.endswith("messages"):
        return str(body["content"][0]["text"])
    return str(body["choices"][0]["message"]["content"])


@codings
@endpoints
def test_a_compressed_answer_is_understood_on_both_paths(
    client: httpx2.Client, taken: list[bool], path: str, coding: str
) -> None:
    answers = [client.post(path, json=question(coding)) for _ in range(3)]

    assert any(taken)
    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert "content-encoding" not in answer.headers
        assert text_of(path, answer.json()) == "Hello"


@codings
@endpoints
def test_a_compressed_stream_is_understood_on_both_paths(
    client: httpx2.Client, taken: list[bool], path: str, coding: str
) -> None:
    answers = [client.post(path, json=question(coding, stream=True)).text for _ in range(3)]

    assert any(taken)
    for answer in answers:
        assert [word in answer for word in (*WORDS, "error")] == [True, True, False]


@codings
def test_a_compressed_refusal_keeps_its_words(client: httpx2.Client, coding: str) -> None:
    answer = client.post("/v1/chat/completions", json=question(f"{coding}-refusal"))

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Slow down")


@codings
def test_a_compressed_question_is_read(here: Served, client: httpx2.Client, coding: str) -> None:
    packed = PACKERS[coding](json.dumps(question("gzip")).encode())
    headers = {"content-type": "application/json", "content-encoding": coding}

    answer = client.post("/v1/chat/completions", content=packed, headers=headers)

    assert text_of("", answer.json()) == "Hello"
    assert here.vendors["openai"].received[-1].json()["messages"][0]["content"] == "hello"


@codings
def test_a_question_that_grows_too_much_is_refused(client: httpx2.Client, coding: str) -> None:
    bomb = PACKERS[coding](b" " * 40_000_000)
    headers = {"content-type": "application/json", "content-encoding": coding}

    answer = client.post("/v1/chat/completions", content=bomb, headers=headers)

    assert answer.status_code == 413


def test_the_gateway_names_itself_to_vendors(here: Served, client: httpx2.Client) -> None:
    client.post("/v1/chat/completions", json=question("gzip"), headers={"user-agent": "acme/1"})

    assert here.vendors["openai"].received[-1].headers["user-agent"] == "model-gateway"
