"""Requests over HTTP/2 whose body has not all come share a budget."""

import asyncio
from typing import Any

import pytest
from gateway_server_fast.multiplexed import connection as module
from h2.errors import ErrorCodes
from h2_wire import Pair

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def reads_all(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UPLOADS", 3)
    monkeypatch.setattr(module, "OWN_UPLOADS", 1)


@pytest.mark.usefixtures("few")
async def test_above_the_budget_a_connection_has_few_of_them() -> None:
    greedy, modest = Pair(reads_all), Pair(reads_all)
    modest.line.manager = greedy.line.manager
    for _ in range(4):
        await greedy.request("POST", ends=False)
    for _ in range(2):
        await modest.request("POST", ends=False)
    greedy.hear()
    modest.hear()

    assert [greedy.reset(number) for number in (1, 3, 5, 7)] == [
        *(None, None, None),
        ErrorCodes.REFUSED_STREAM,
    ]
    assert [modest.reset(1), modest.reset(3)] == [None, ErrorCodes.REFUSED_STREAM]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("end", ["the body ends", "a reset", "a lost connection"])
async def test_a_body_that_has_come_or_never_will_makes_room(end: str) -> None:
    pair = Pair(reads_all)
    manager = pair.line.manager
    numbers = [await pair.request("POST", ends=False) for _ in range(3)]
    assert manager.uploads == 3

    if end == "a lost connection":
        pair.line.connection_lost(None)
    for number in numbers if end != "a lost connection" else ():
        if end == "a reset":
            pair.client.reset_stream(number)
        else:
            pair.client.end_stream(number)
    pair.tell()
    await asyncio.sleep(0)

    assert manager.uploads == pair.line.uploads == 0


async def test_a_request_without_a_body_is_none_of_them() -> None:
    pair = Pair(reads_all)

    await pair.request()

    assert pair.line.manager.uploads == 0
