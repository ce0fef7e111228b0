"""A configured application: stateless, text only, with a key check of its own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_core.storage.stores.connection import NewConnection

PATH = "/v1/chat/completions"
ANSWER = {
    "event": "message",
    "message_id": "9da23599-e713-473b-982c-4328d4f5c78a",
    "conversation_id": "45701982-8118-4bc5-8e9b-64562b4555f2",
    "mode": "chat",
    "answer": "Hello there",
    "metadata": {"usage": {"prompt_tokens": 33, "completion_tokens": 5, "total_tokens": 38}},
    "created_at": 1705407629,
}
HISTORY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": [{"type": "text", "text": "Who are you?"}]},
]
Ask = Callable[..., httpx2.Response]


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False, timeout=30) as client:
        yield client


def say(received: ReceivedRequest) -> MockResponse:
    if received.path in ("/v1/info", "/v1/parameters"):
        is_good = received.headers["authorization"] == "Bearer app-good"
        return MockResponse((b"{}",), status=200 if is_good else 401)
    return MockResponse((json.dumps(ANSWER).encode(),))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with serve_gateway(tmp_path, {"vendor": say}, specs=lambda vendors: []) as served:

        async def connect() -> None:
            core = served.gateway.core
            own = {"baseUrl": f"{served.vendors['vendor'].url}/v1"}
            data = {"apiKey": "app-good", "providerSpecificData": own}
            new = NewConnection(provider="dify", name="dify", data=data)
            await core.stores.connections.create(new)
            await core.stores.settings.patch({"requireLogin": False})
            await core.refresh()

        served.do(connect())
        yield served


@pytest.fixture
def ask(here: Served, http: httpx2.Client) -> Ask:
    def send(model: str = "dify/configured-app", **more: Any) -> httpx2.Response:
        body = {"model": model, "messages": HISTORY, **more}
        return http.post(f"{here.url}{PATH}", json=body)

    return send


def test_the_whole_history_goes_as_one_text(here: Served, ask: Ask) -> None:
    first, second = ask(), ask()

    received = here.vendors["vendor"].received
    bodies = [each.json() for each in received]
    users = [body.pop("user") for body in bodies]
    query = "system: Be brief.\nuser: Hi\nassistant: Yes?\nuser: Who are you?"
    assert bodies == [{"inputs": {}, "query": query, "response_mode": "blocking"}] * 2
    assert received[0].headers["authorization"] == "Bearer app-good"
    assert received[0].target == "/v1/chat-messages"
    assert len({UUID(user) for user in users}) == 2
    answer = first.json()
    assert answer["id"] == f"chatcmpl-{ANSWER['message_id']}"
    assert answer["choices"][0]["message"]["content"] == "Hello there"
    assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (33, 5)
    assert second.status_code == 200


def test_a_streaming_client_gets_the_role_the_content_and_the_end(ask: Ask) -> None:
    streamed = ask(stream=True)

    *frames, done = streamed.text.strip().split("\n\n")
    chunks = [json.loads(frame.removeprefix("data: ")) for frame in frames]
    deltas = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    assert done == "data: [DONE]"
    assert [each["delta"].get("content") for each in deltas][-2:] == ["Hello there", None]
    assert deltas[0]["delta"]["role"] == "assistant"
    assert [each["finish_reason"] for each in deltas] == [None, None, "stop"]


@pytest.mark.parametrize("model", ["configured-app", "dify/configured-app"])
def test_the_only_model_is_the_configured_application(ask: Ask, model: str) -> None:
    assert ask(model).status_code == 200


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"model": "dify/auto"}, "unsupported_request"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
            "unsupported_request",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
                        ],
                    }
                ]
            },
            "unsupported_request",
        ),
        ({"messages": [{"role": "user", "content": ""}]}, "invalid_request"),
    ],
    ids=["model", "tools", "media", "nothing"],
)
def test_what_an_application_cannot_be_asked_is_refused(
    here: Served, ask: Ask, more: dict[str, Any], code: str
) -> None:
    refused = ask(**more)

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert here.vendors["vendor"].received == []


@pytest.mark.parametrize(("key", "is_good"), [("app-good", True), ("app-bad", False)])
def test_a_key_is_checked_with_two_probes(
    here: Served, http: httpx2.Client, key: str, is_good: bool
) -> None:
    own = {"baseUrl": f"{here.vendors['vendor'].url}/v1"}
    body = {"provider": "dify", "apiKey": key, "providerSpecificData": own}

    checked = http.post(f"{here.url}/api/providers/validate", json=body)

    assert checked.status_code == 200, checked.text
    assert checked.json()["valid"] is is_good
    paths = {received.target for received in here.vendors["vendor"].received}
    assert paths == {"/v1/info", "/v1/parameters"}


def test_a_key_check_takes_no_proxy(here: Served, http: httpx2.Client) -> None:
    own = {
        "baseUrl": f"{here.vendors['vendor'].url}/v1",
        "connectionProxyEnabled": True,
        "connectionProxyUrl": "http://127.0.0.1:1",
    }
    body = {"provider": "dify", "apiKey": "app-good", "providerSpecificData": own}

    checked = http.post(f"{here.url}/api/providers/validate", json=body)

    assert checked.json()["valid"] is False
    assert "proxy" in checked.text
    assert here.vendors["vendor"].received == []
