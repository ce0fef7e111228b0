"""What a provider's declaration and its executor can say of a request."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fake_vendor import MockResponse
from msgspec import Raw
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Credential, Model, Transport, UpstreamRequest, UpstreamResponse

ANSWER = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
).encode()
FIXED = {"store": Raw(b"false"), "safe_prompt": Raw(b"true"), "odd": Raw(b'{"a":[1]}')}


class Reshaping:
    """Sends nothing of ``seed``, says so, and asks again where the vendor is not ready."""

    name = "reshaping"

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        assert request.losses is not None
        request.losses.add("seed")
        first = await transport.send(request)
        if first.status != 503:
            return first
        await first.aclose()
        return await transport.send(request)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    states = iter((503, 200))

    def twice(received: object) -> MockResponse:
        return MockResponse((ANSWER,), next(states))

    with serve_gateway(
        Path(tmp_path_factory.mktemp("gateway")),
        {"fixed": lambda received: MockResponse((ANSWER,)), "executor": twice},
        specs=lambda vendors: [
            keyless_provider(
                "openai",
                vendors["fixed"],
                id="fixed",
                models=(Model("m"),),
                fixed=FIXED,
                rename={"seed": "random_seed"},
            ),
            keyless_provider(
                "openai",
                vendors["executor"],
                id="executor",
                models=(Model("m"),),
                executor=Reshaping(),
            ),
        ],
    ) as running:
        yield running


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_fixed_members_are_in_each_body_whoever_asks(here: Served, path: str) -> None:
    body = {"model": "fixed/m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    if path == "/v1/chat/completions":
        body |= {"store": True, "seed": 4}

    response = httpx2.post(f"{here.url}{path}", json=body)

    sent = here.vendors["fixed"].received[-1].json()
    assert response.status_code == 200
    assert sent["store"] is False
    assert sent["safe_prompt"] is True
    assert sent["odd"] == {"a": [1]}
    assert list(sent).count("store") == 1


def test_an_executor_names_losses_and_may_ask_again(here: Served) -> None:
    body = {"model": "executor/m", "messages": [{"role": "user", "content": "Hi"}], "seed": 4}

    response = httpx2.post(f"{here.url}/v1/chat/completions", json=body)

    assert response.status_code == 200
    assert response.headers["x-gateway-dropped"] == "seed"
    assert len(here.vendors["executor"].received) == 2
    row = here.rows()[0]
    assert (row.dropped, row.attempts) == (("seed",), 1)
