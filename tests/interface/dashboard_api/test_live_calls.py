"""Calls one by one, as they end."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from admin_gateway import AdminGateway
from ledger_rows import keep, row
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER
from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.usage import live
from gateway_dashboard_api.usage.feeds import PING
from gateway_dashboard_api.usage.ledger.reports import Which
from gateway_dashboard_api.usage.live import LiveCalls

pytestmark = pytest.mark.anyio
PATH = "/api/usage/live"
OFTEN, NEVER = 0.001, 3600.0


def calls_of(admin: AdminGateway) -> LiveCalls:
    return LiveCalls(AdminContext(admin.core), every=OFTEN, ping=NEVER)


async def shown(frames: AsyncGenerator[bytes, None]) -> dict[str, Any]:
    """The next row of a stream."""
    async with asyncio.timeout(20):
        frame = await anext(frames)
        while frame == PING:
            frame = await anext(frames)
    head, _, data = frame.partition(b"data: ")
    found: dict[str, Any] = msgspec.json.decode(data)
    assert head == (b"id: %d\n" % found["id"] if "id" in found else b"event: missed\n")
    return found


async def test_a_call_is_shown_as_the_history_shows_it(admin: AdminGateway) -> None:
    await keep(admin, row(request_id="old"))
    async with aclosing(calls_of(admin).watch(Which())) as frames:
        assert await anext(frames) == PING
        await keep(admin, row(request_id="new", provider="acme"))

        new = await shown(frames)

    history = await admin.call("GET", "/api/usage/history?limit=2")
    assert new == next(each for each in history["rows"] if each["requestId"] == "new")


async def test_a_filter_leaves_the_others_out(admin: AdminGateway) -> None:
    which = Which(provider="acme", status="error", api_key="")
    async with aclosing(calls_of(admin).watch(which)) as frames:
        await anext(frames)
        await keep(
            admin,
            row(request_id="a", provider="acme", status="ok"),
            row(request_id="b", provider="other", status="error"),
            row(request_id="c", provider="acme", status="error", api_key_id="k"),
            row(request_id="d", provider="acme", status="error"),
        )

        assert (await shown(frames))["requestId"] == "d"


async def test_who_comes_back_gets_what_came_meanwhile(admin: AdminGateway) -> None:
    calls = calls_of(admin)
    await keep(admin, *(row(request_id=f"r{number}") for number in range(4)))
    rows = (await admin.call("GET", "/api/usage/history"))["rows"]
    seen = next(each["id"] for each in rows if each["requestId"] == "r1")

    async with aclosing(calls.watch(Which(), seen)) as frames:
        again = [(await shown(frames))["requestId"] for _ in range(2)]
        await keep(admin, row(request_id="r4"))
        again.append((await shown(frames))["requestId"])

    assert again == ["r2", "r3", "r4"]


async def test_who_reads_slowly_learns_how_many_were_missed(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "BEHIND", 2)
    calls = calls_of(admin)
    async with aclosing(calls.watch(Which())) as slow, aclosing(calls.watch(Which())) as quick:
        await anext(slow)
        await anext(quick)
        for number in range(5):
            await keep(admin, row(request_id=f"r{number}"))
            assert (await shown(quick))["requestId"] == f"r{number}"

        missed = await shown(slow)
        left = [(await shown(slow))["requestId"] for _ in range(2)]

    assert (missed, left) == ({"missed": 3}, ["r0", "r1"])


async def test_of_a_flood_the_newest_are_shown(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_ROWS", 2)
    calls = calls_of(admin)
    async with aclosing(calls.watch(Which())) as frames:
        await anext(frames)
        await keep(admin, *(row(request_id=f"r{number}") for number in range(5)))
        found = [await shown(frames) for _ in range(3)]

    assert {"missed": 3} in found
    assert [each["requestId"] for each in found if "requestId" in each] == ["r3", "r4"]


async def test_nothing_is_read_while_nobody_watches(admin: AdminGateway) -> None:
    calls = calls_of(admin)
    async with aclosing(calls.watch(Which())) as frames:
        await anext(frames)
        assert calls._reader is not None

    assert calls._reader is None


async def test_a_gateway_that_stops_ends_the_streams(admin: AdminGateway) -> None:
    async with aclosing(calls_of(admin).watch(Which())) as frames:
        await anext(frames)
        admin.core.state.is_stopping = True

        with pytest.raises(StopAsyncIteration):
            await anext(frames)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with serve_gateway(tmp_path, {}) as running:
        yield running


def test_it_is_a_stream_over_a_socket(here: Served) -> None:
    headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
    body = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hi"}]}
    with httpx2.Client(base_url=here.url, timeout=20, headers=headers) as client:
        assert client.get(f"{PATH}?provider=a&nonsense=b").status_code == 400
        with client.stream("GET", f"{PATH}?endpoint=/v1/chat/completions") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            next(lines)
            client.post("/v1/chat/completions", json=body)
            data = next(line for line in lines if line.startswith("data: "))

    assert msgspec.json.decode(data[6:])["provider"] == "echo"
