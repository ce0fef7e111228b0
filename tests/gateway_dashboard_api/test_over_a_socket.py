"""The management routes over a socket, on both servers."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from admin_gateway import REPLY
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER


def answer(received: ReceivedRequest) -> MockResponse:
    return MockResponse((REPLY,), delay=0.3 if received.json()["model"] == "slow" else 0.0)


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": answer}, server=request.param) as running:
        yield running


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    token = here.gateway.core.identity.cli_token
    with httpx2.Client(base_url=here.url, timeout=20, headers={CLI_HEADER: token}) as opened:
        yield opened


def test_a_probe_has_a_head_and_no_body(client: httpx2.Client) -> None:
    whole, probe = client.get("/api/combos"), client.head("/api/combos")

    assert (probe.status_code, probe.content) == (200, b"")
    assert whole.json() == {"combos": []}


def test_a_batch_streams_each_outcome_when_it_is_known(client: httpx2.Client) -> None:
    body = {"models": [{"model": "v-openai/m"}, {"model": "v-openai/slow"}]}

    with client.stream("POST", "/api/models/test/batch", json=body) as reported:
        frames = [line for line in reported.iter_lines() if line]

    assert reported.headers["content-type"].startswith("text/event-stream")
    assert [('"ok":true' in frame, '"done"' in frame) for frame in frames] == [
        (True, False),
        (True, False),
        (False, True),
    ]


async def under_way() -> int:
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return sum(name.startswith("_side_by_side") for name in names)


def test_a_client_may_leave_a_batch(client: httpx2.Client, here: Served) -> None:
    models = [{"model": "v-openai/m"}, *[{"model": "v-openai/slow"}] * 199]
    before = len(here.vendors["openai"].received)

    with client.stream("POST", "/api/models/test/batch", json={"models": models}) as reported:
        next(reported.iter_lines())
    for _ in range(100):
        if here.do(under_way()) == 0:
            break
        time.sleep(0.02)

    assert here.do(under_way()) == 0
    assert len(here.vendors["openai"].received) - before < 100


def test_a_body_that_never_ends_is_refused(client: httpx2.Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(32):
            yield b" " * 64 * 1024

    headers = {"content-type": "application/json"}

    answer = client.post("/api/combos", content=endless(), headers=headers)

    assert answer.status_code == 413


def test_a_change_is_in_force_for_the_next_call(client: httpx2.Client) -> None:
    client.put("/api/models/alias", json={"alias": "quick", "model": "v-openai/m"})
    hello = {"model": "quick", "messages": [{"role": "user", "content": "Hello"}]}

    answer = client.post("/v1/chat/completions", json=hello)

    assert answer.json()["choices"][0]["message"]["content"] == "Hi"
