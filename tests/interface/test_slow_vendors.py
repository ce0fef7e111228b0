"""How long vendors may take, and what becomes of their accounts when they take longer."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_core import ProviderSpec
from gateway_core.storage.stores.connection import NewConnection

LATE = 0.6
LIMITS = {
    "STREAM_FIRST_CHUNK_TIMEOUT_MS": "300",
    "STREAM_STALL_TIMEOUT_MS": "300",
    "PROVIDER_BODY_TIMEOUT_MS": "1500",
}
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
REPLY = json.dumps({"id": "c", "choices": [CHOICE]}).encode()


def script(received: ReceivedRequest) -> MockResponse:
    body = received.json()
    kind = body["model"].partition("-")[0]
    times: dict[str, Any] = {
        "late": {"delay": LATE},
        "stalls": {"pause": LATE},
        "never": {"delay": 10},
    }.get(kind, {})
    if body.get("stream"):
        return MockResponse.stream(EVENT, END, **times)
    return MockResponse((REPLY[:9], REPLY[9:]), **times)


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    return [ProviderSpec(id="acme", name="Acme", base_url=vendors["acme"].url)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("slow")
    with serve_gateway(folder, {"acme": script}, specs=specs, variables=LIMITS) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def client(here: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=here.url, trust_env=False) as made:
        yield made


@pytest.fixture(autouse=True, scope="module")
def account(here: Served) -> None:
    async def work() -> None:
        core = here.gateway.core
        new = NewConnection(provider="acme", name="one", data={"apiKey": "k"})
        await core.stores.connections.create(new)
        own = {"timeoutMs": 5000, "stallTimeoutMs": 5000}
        timeouts = {"acme/late-patient": own, "acme/stalls-patient": own}
        await core.stores.settings.patch({"modelTimeouts": timeouts})
        await core.refresh()

    here.do(work())


def ask(client: httpx2.Client, model: str, *, stream: bool) -> httpx2.Response:
    messages = [{"role": "user", "content": "hello"}]
    body = {"model": f"acme/{model}", "messages": messages, "stream": stream}
    return client.post("/v1/chat/completions", json=body)


def resting(here: Served) -> list[Any]:
    return here.gateway.core.cooldowns.all_active()


@pytest.mark.parametrize("model", ["quick", "late", "stalls"])
def test_an_answer_that_is_not_streamed_may_take_all_of_its_time(
    client: httpx2.Client, model: str
) -> None:
    for _ in range(2):
        assert ask(client, model, stream=False).json()["choices"][0]["message"]["content"] == "Hi"


@pytest.mark.parametrize("stream", [True, False])
def test_a_vendor_that_is_late_is_given_up_and_its_account_goes_on(
    here: Served, client: httpx2.Client, stream: bool
) -> None:
    begun = time.monotonic()
    answer = ask(client, "never", stream=stream)
    waited = time.monotonic() - begun

    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "gateway_timeout"
    assert (0.3 if stream else 1.5) <= waited < 5
    assert resting(here) == []
    assert ask(client, "never-mind", stream=stream).status_code == 504  # It is asked again.
    assert ask(client, "quick", stream=stream).status_code == 200


def test_a_stream_that_stalls_ends_with_an_error_and_its_account_goes_on(
    here: Served, client: httpx2.Client
) -> None:
    answer = ask(client, "stalls", stream=True)

    assert "gateway_timeout" in answer.text
    assert resting(here) == []


@pytest.mark.parametrize("model", ["late-patient", "stalls-patient"])
def test_a_model_may_have_times_of_its_own(client: httpx2.Client, model: str) -> None:
    answer = ask(client, model, stream=True)

    assert answer.status_code == 200
    assert answer.text.endswith("data: [DONE]\n\n")
    assert "error" not in answer.text
