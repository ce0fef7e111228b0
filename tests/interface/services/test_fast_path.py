"""Calls of one request whose answer comes whole are served without a task, with the same result."""

from typing import Any

import httpx2
import msgspec
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import Auth, Kind, Model, ProviderSpec, Service
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService

VECTORS = b'{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":3}}'


def say(received: ReceivedRequest) -> MockResponse:
    if b"busy" in received.body:
        return MockResponse((b'{"error":{"message":"busy"}}',), status=429)
    if received.path == "/audio/speech":
        return MockResponse((b"ID3audio",), content_type="audio/ogg")
    return MockResponse((VECTORS,))


def specs(vendor: FakeVendor) -> list[ProviderSpec]:
    few = Service(Kind.EMBEDDING, PassThroughService("/embeddings", batch_limit=1))
    spec = ProviderSpec(
        id="p",
        name="P",
        base_url=vendor.url,
        auth=Auth(type="none"),
        models=(Model("e", kind=Kind.EMBEDDING), Model("s", kind=Kind.SPEECH)),
        services=(few,),
    )
    return [openai_compatible(spec, services=("tts",))]


@pytest.fixture
def here(connected: Any) -> Served:
    served: Served = connected(say, specs=specs, accounts=())
    return served


def ask_twice(
    here: Served, http: httpx2.Client, path: str, body: dict[str, Any]
) -> list[httpx2.Response]:
    """Two equal requests on one connection; the second repeats the first one's head."""
    content = msgspec.json.encode(body)
    headers = {"content-type": "application/json"}
    return [http.post(f"{here.url}{path}", content=content, headers=headers) for _ in range(2)]


def test_vectors_take_the_fast_path_with_the_same_row(
    here: Served, http: httpx2.Client, taken: list[bool]
) -> None:
    first, second = ask_twice(here, http, "/v1/embeddings", {"model": "p/e", "input": "hi"})

    rows = here.rows()
    assert taken == [True]
    assert first.content == second.content == VECTORS
    assert first.headers["content-type"] == second.headers["content-type"] == "application/json"
    assert [row.input_tokens for row in rows] == [3, 3]
    assert [row.endpoint for row in rows] == ["/v1/embeddings"] * 2


def test_bytes_keep_the_vendors_type(here: Served, http: httpx2.Client, taken: list[bool]) -> None:
    answers = ask_twice(here, http, "/v1/audio/speech", {"model": "p/s", "input": "hi"})

    assert taken == [True]
    assert [each.content for each in answers] == [b"ID3audio"] * 2
    assert [each.headers["content-type"] for each in answers] == ["audio/ogg"] * 2
    assert [row.units for row in here.rows()] == [{"characters": 2}] * 2


@pytest.mark.parametrize(
    "body",
    [{"model": "p/e", "input": ["a", "b"]}, {"input": "hi"}, {"model": "auto", "input": "hi"}],
    ids=["several requests", "no model", "auto"],
)
def test_what_may_need_more_is_left_to_a_task(
    here: Served, http: httpx2.Client, taken: list[bool], body: dict[str, Any]
) -> None:
    answers = ask_twice(here, http, "/v1/embeddings", body)

    assert taken == [False]
    assert [each.status_code for each in answers] == [200, 200]


def test_a_refusal_is_read_by_a_task(here: Served, http: httpx2.Client, taken: list[bool]) -> None:
    http.post(f"{here.url}/v1/embeddings", json={"model": "p/e", "input": "well"})
    found = http.post(f"{here.url}/v1/embeddings", json={"model": "p/e", "input": "busy"})

    assert found.status_code == 429
    assert found.json()["error"]["message"] == "busy"
