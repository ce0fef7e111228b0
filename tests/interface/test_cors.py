"""Pages of other origins: what they may ask, and what they may see (WHATWG Fetch, section 3.3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway
from web_page import Blocked, WebPage

from gateway_core.identity.credentials import CLI_HEADER

AWAY = "https://app.example"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
REPLY = (
    b'{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},'
    b'"finish_reason":"stop"}]}'
)
TURNS: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 9}
ENDPOINTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": TURNS,
    "/v1/messages": TURNS,
    "/v1/responses": {"input": "hello"},
    "/v1beta/models/v-openai/m:generateContent": {"contents": [{"parts": [{"text": "hi"}]}]},
}
endpoints = pytest.mark.parametrize("path", ENDPOINTS)


def script(received: ReceivedRequest) -> MockResponse:
    body, limits = received.json(), {"x-ratelimit-limit": "7"}
    if body["model"] == "refuses":
        return MockResponse((b'{"error":{"message":"no"}}',), 400)
    if body.get("stream"):
        return MockResponse.stream(EVENT, b"data: [DONE]\n\n", headers=limits)
    return MockResponse((REPLY,), headers=limits)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("cors")
    with serve_gateway(folder, {"openai": script}) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def client(here: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=here.url, trust_env=False) as made:
        yield made


@pytest.fixture(scope="module")
def key(here: Served, client: httpx2.Client) -> str:
    token = {CLI_HEADER: here.gateway.core.identity.cli_token}
    body = {"name": "page", "machineId": "any"}
    made = client.post("/api/keys", json=body, headers=token)
    return str(made.json()["key"])


@pytest.fixture
def page(client: httpx2.Client) -> WebPage:
    return WebPage(client, AWAY)


def bearer(key: str) -> dict[str, str]:
    # What the SDK for JavaScript sends along.
    return {"authorization": f"Bearer {key}", "x-stainless-lang": "js"}


def question(path: str, model: str = "m", **more: Any) -> dict[str, Any]:
    return {"model": f"v-openai/{model}", **ENDPOINTS[path], **more}


@endpoints
def test_a_page_with_a_key_sees_answers_and_their_headers(
    page: WebPage, key: str, path: str, taken: list[bool]
) -> None:
    for _ in range(2):
        answer = page.fetch("POST", path, json=question(path), headers=bearer(key))

        assert answer.status_code == 200
        assert answer.headers["x-ratelimit-limit"] == "7"
        assert answer.headers["x-request-id"]
    assert taken == [True]


def test_a_page_with_a_key_sees_streams(page: WebPage, key: str, taken: list[bool]) -> None:
    path = "/v1/chat/completions"
    for _ in range(2):
        body = question(path, stream=True)
        answer = page.fetch("POST", path, json=body, headers=bearer(key))

        assert "[DONE]" in answer.text
        assert answer.headers["x-request-id"]
    assert any(taken)


@pytest.mark.parametrize(
    ("body", "status"),
    [(question("/v1/messages", "refuses"), 400), ({"model": "nobody/m"}, 400), ({}, 400)],
)
@endpoints
def test_a_page_with_a_key_sees_refusals(
    page: WebPage, key: str, path: str, body: dict[str, Any], status: int
) -> None:
    answer = page.fetch("POST", path, json=body, headers=bearer(key))

    assert status <= answer.status_code < 500


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 200),
        ("GET", "/v1/models/v-openai%2Fm", 404),
        ("GET", "/v1beta/models", 200),
        ("GET", "/v1/chat/completions", 405),
        ("GET", "/v1/nowhere", 404),
        ("GET", "/v1/provider-plugin-manifest", 200),
    ],
)
def test_a_page_with_a_key_sees_lists_and_errors(
    page: WebPage, key: str, method: str, path: str, status: int
) -> None:
    assert page.fetch(method, path, headers=bearer(key)).status_code == status


def test_a_page_learns_that_its_key_is_wrong(page: WebPage) -> None:
    for method, path in (("POST", "/v1/chat/completions"), ("GET", "/v1/models")):
        answer = page.fetch(method, path, headers=bearer("sk-wrong"))

        assert answer.status_code == 401


@endpoints
def test_a_page_without_a_key_sees_nothing_of_a_keyless_gateway(
    client: httpx2.Client, here: Served, path: str
) -> None:
    page, received = WebPage(client, AWAY), len(here.vendors["openai"].received)

    with pytest.raises(Blocked):
        page.fetch("POST", path, json=question(path))
    with pytest.raises(Blocked):
        page.fetch("GET", "/v1/models")

    assert len(here.vendors["openai"].received) == received
    assert client.post(path, json=question(path)).status_code == 200  # No page: it is local.


def test_management_stays_closed(page: WebPage, key: str, client: httpx2.Client) -> None:
    with pytest.raises(Blocked):
        page.fetch("GET", "/api/keys", headers=bearer(key))

    answer = client.get("/api/keys", headers={**bearer(key), "origin": AWAY})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", [*ENDPOINTS, "/v1/models", "/v1beta/models", "/v1/nowhere"])
def test_a_preflight_shows_no_key_and_is_answered(client: httpx2.Client, path: str) -> None:
    asking = {
        "origin": AWAY,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-stainless-lang",
        "x-forwarded-for": "203.0.113.9",
    }

    answer = client.options(path, headers=asking)

    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == "authorization, *"
    assert "OPTIONS" in answer.headers["access-control-allow-methods"]


@pytest.mark.parametrize("path", ["/api/keys", "/api/nowhere", "/api/settings"])
def test_a_question_for_methods_needs_no_credential_and_opens_nothing(
    client: httpx2.Client, path: str
) -> None:
    answer = client.options(path, headers={"origin": AWAY, "x-forwarded-for": "203.0.113.9"})

    assert answer.status_code == 204
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["allow"] == "OPTIONS"


def test_an_answer_to_no_page_is_shared_only_where_a_key_was_shown(
    client: httpx2.Client, key: str
) -> None:
    path = "/v1/chat/completions"
    keyed = client.post(path, json=question(path), headers=bearer(key))
    keyless = client.post(path, json=question(path))

    assert keyed.headers["access-control-allow-origin"] == "*"
    assert keyed.headers["access-control-expose-headers"] == "*"
    assert "access-control-allow-origin" not in keyless.headers
