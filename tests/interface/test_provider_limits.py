"""Limits of a provider: calls at once wait for a place, calls a minute are refused."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway
from vendor_answers import WHOLE

from gateway_core import Auth, ProviderSpec

FRAME = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
)
AT_ONCE = "[p/m] Provider concurrency limit reached (1 at once) (reset after 1s)"


def script(received: ReceivedRequest) -> MockResponse:
    body = received.json()
    if body["model"] == "fails":
        return MockResponse((b'{"error":{"message":"no"}}',), 500)
    return (
        MockResponse.stream(FRAME, hang=True)
        if body.get("stream")
        else MockResponse((WHOLE["openai"],))
    )


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    url, keyless = vendors["any"].url, Auth(type="none")
    return [
        ProviderSpec(id="p", name="p", base_url=url, auth=keyless),
        ProviderSpec(id="q", name="q", alias="qq", base_url=url, auth=keyless),
        ProviderSpec(id="built-in", name="b", base_url=url, auth=keyless, calls_per_minute=2),
    ]


@pytest.fixture
def variables() -> dict[str, str]:
    return {}


@pytest.fixture
def here(tmp_path: Path, variables: dict[str, str]) -> Iterator[Served]:
    with serve_gateway(tmp_path, {"any": script}, specs=specs, variables=variables) as served:
        yield served


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=here.url, trust_env=False, timeout=30) as connected:
        yield connected


def limit(here: Served, **settings: Any) -> None:
    async def save() -> None:
        await here.gateway.core.stores.settings.patch(settings)
        await here.gateway.core.refresh()

    here.do(save())


def body(model: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "hi"}], **more}


def chat(client: httpx2.Client, model: str = "p/m") -> httpx2.Response:
    return client.post("/v1/chat/completions", json=body(model))


@contextmanager
def under_way(client: httpx2.Client) -> Iterator[None]:
    """An answer of ``p`` has begun, and does not end within the block."""
    with client.stream("POST", "/v1/chat/completions", json=body("p/m", stream=True)) as answer:
        pieces = answer.iter_raw()  # Kept: the answer is closed with it.
        next(pieces)
        yield


def until_one_waits(here: Served) -> None:
    """Return once a call waits for a place at ``p``."""

    async def look() -> None:
        gate = here.gateway.core.provider_limits._gates["p"]
        while not gate._waiting:
            await asyncio.sleep(0)

    here.do(asyncio.wait_for(look(), 20))


def test_a_call_waits_until_the_answer_of_another_has_ended(
    here: Served, client: httpx2.Client
) -> None:
    limit(here, providerConcurrencyLimits={"p": 1})
    with ThreadPoolExecutor() as pool:
        with under_way(client):
            second = pool.submit(chat, client)
            until_one_waits(here)
            received = len(here.vendors["any"].received)
            is_elsewhere = chat(client, "q/m").status_code

        answer = second.result(30)

    assert (received, is_elsewhere, answer.status_code) == (1, 200, 200)


@pytest.mark.parametrize("variables", [{"CONCURRENCY_GATE_TIMEOUT_MS": "50"}])
def test_a_call_that_gets_no_place_in_time_is_told_when_to_come_again(
    here: Served, client: httpx2.Client
) -> None:
    limit(here, providerConcurrencyLimits={"p": 1})
    with under_way(client):
        refused = chat(client)

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["error"]["message"] == AT_ONCE
    assert here.gateway.core.cooldowns.all_active() == []


def test_the_next_member_of_a_combo_is_asked_instead_of_waiting(
    here: Served, client: httpx2.Client, add_combo: Callable[..., None]
) -> None:
    limit(here, providerConcurrencyLimits={"p": 1})
    add_combo(here, "both", "p/m", "q/other")
    with under_way(client):
        answer = chat(client, "both")

    assert answer.status_code == 200
    assert [received.json()["model"] for received in here.vendors["any"].received] == ["m", "other"]


def test_a_place_is_free_again_after_every_end(here: Served, client: httpx2.Client) -> None:
    limit(here, providerConcurrencyLimits={"p": 1})

    answers = [chat(client, name).status_code for name in ("p/m", "p/fails", "p/m", "p/m")]

    assert answers == [200, 500, 200, 200]


@pytest.mark.parametrize("name", ["q", "qq"])
def test_calls_beyond_a_minutes_number_get_429(
    here: Served, client: httpx2.Client, name: str
) -> None:
    limit(here, rpmByProvider={name: 2})

    answers = [chat(client, "q/m") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    message = answers[2].json()["error"]["message"]
    assert message.startswith(
        "[q/m] Provider rate limit exceeded (2 requests/minute) (reset after "
    )
    assert len(here.vendors["any"].received) == 2


@pytest.mark.parametrize(("settings", "last"), [({}, 429), ({"built-in": 0}, 200)])
def test_a_providers_own_limit_holds_unless_a_setting_lifts_it(
    here: Served, client: httpx2.Client, settings: dict[str, int], last: int
) -> None:
    limit(here, rpmByProvider=settings)

    assert [chat(client, "built-in/m").status_code for _ in range(3)] == [200, 200, last]


def test_a_provider_without_limits_stays_on_the_fast_path(
    here: Served, client: httpx2.Client, taken: list[bool]
) -> None:
    limit(here, providerConcurrencyLimits={"p": 1, "q": 0})

    for name in ("p/m", "q/m"):
        for _ in range(3):
            assert chat(client, name).status_code == 200

    assert taken[-1]
    assert not any(taken[:2])
