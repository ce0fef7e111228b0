"""Usage as it happens."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from admin_gateway import AdminGateway
from collaborators import replace_collaborator
from ledger_rows import DAY, NOW, keep, row
from served_gateway import serve_gateway

from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.metering.in_flight import InFlight
from gateway_core.metering.request_record import RequestRecord
from gateway_core.storage.errors import StorageUnavailable
from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.usage.feeds import PING, Feeds
from gateway_dashboard_api.usage.ledger.reports import UsageReports

pytestmark = pytest.mark.anyio
OFTEN = 0.001
NEVER = 3600.0


@pytest.fixture
def context(admin: AdminGateway) -> AdminContext:
    return AdminContext(admin.core)


def feeds_of(context: AdminContext, *, every: float = OFTEN, ping: float = NEVER) -> Feeds:
    return Feeds(context, every=every, ping=ping, monotonic=lambda: 0.0)


async def is_looking() -> bool:
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return "Feeds._look" in names


async def shown(frames: AsyncGenerator[bytes, None]) -> dict[str, Any]:
    frame = await anext(frames)
    assert frame.startswith(b"data: ")
    assert frame.endswith(b"\n\n")
    picture: dict[str, Any] = msgspec.json.decode(frame[6:])
    return picture


async def test_the_whole_overview_comes_first(admin: AdminGateway, context: AdminContext) -> None:
    await keep(admin, row(input_tokens=3))

    async with aclosing(feeds_of(context, every=NEVER).watch("7d")) as frames:
        first = await shown(frames)

    assert first == await admin.call("GET", "/api/usage/stats")


async def test_it_comes_again_when_a_call_has_ended(
    admin: AdminGateway, context: AdminContext
) -> None:
    await keep(admin)

    async with aclosing(feeds_of(context).watch("today")) as frames:
        before = await shown(frames)
        await keep(admin, row())
        after = await shown(frames)

    assert (before["totalRequests"], after["totalRequests"]) == (0, 1)


async def test_it_comes_again_when_a_call_begins(
    admin: AdminGateway, context: AdminContext
) -> None:
    replace_collaborator(admin.core, "in_flight", InFlight())

    async with aclosing(feeds_of(context).watch("all")) as frames:
        await shown(frames)
        admin.core.in_flight.begin(RequestRecord("r", "/v1/messages", "claude", NOW))
        await asyncio.wait_for(shown(frames), 10)


async def test_it_comes_again_when_a_new_day_begins(
    admin: AdminGateway, context: AdminContext
) -> None:
    await keep(admin, row())

    async with aclosing(feeds_of(context).watch("today")) as frames:
        before = await shown(frames)
        replace_collaborator(admin.core, "clock", lambda: NOW + DAY)
        after = await shown(frames)

    assert (before["totalRequests"], after["totalRequests"]) == (1, 0)


async def test_without_changes_there_are_pings_and_no_new_overview(
    context: AdminContext,
) -> None:
    feeds = feeds_of(context, ping=OFTEN)

    async with aclosing(feeds.watch("7d")) as frames:
        await shown(frames)
        assert [await anext(frames) for _ in range(5)] == [PING] * 5

    assert feeds.computed == 1


async def test_one_overview_serves_all_watchers(admin: AdminGateway, context: AdminContext) -> None:
    await keep(admin)
    feeds = feeds_of(context)
    watchers = [feeds.watch("7d") for _ in range(20)]
    await asyncio.gather(*map(shown, watchers))
    computed = feeds.computed

    await keep(admin, row())
    pictures = await asyncio.gather(*map(shown, watchers))
    for each in watchers:
        await each.aclose()

    assert {one["totalRequests"] for one in pictures} == {1}
    assert (computed, feeds.computed) == (1, 2)


async def test_a_slow_overview_is_not_computed_all_the_time(
    admin: AdminGateway, context: AdminContext
) -> None:
    moment = 0.0

    def monotonic() -> float:
        """A second goes by whenever somebody looks at the clock."""
        nonlocal moment
        moment += 1
        return moment

    await keep(admin)
    feeds = Feeds(context, every=OFTEN, ping=NEVER, monotonic=monotonic)

    async with aclosing(feeds.watch("7d")) as frames:
        await shown(frames)
        first = moment
        await keep(admin, row())
        await shown(frames)

    assert moment - first >= 10


async def test_nothing_is_computed_without_watchers(context: AdminContext) -> None:
    feeds = feeds_of(context)
    frames = feeds.watch("7d")
    await shown(frames)

    await frames.aclose()
    await asyncio.sleep(0)

    assert not await is_looking()


async def test_a_database_that_is_away_for_a_while_ends_no_stream(
    admin: AdminGateway, context: AdminContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(admin)
    failed = asyncio.Event()

    async def broken(self: UsageReports) -> int:
        failed.set()
        raise StorageUnavailable

    async with aclosing(feeds_of(context).watch("all")) as frames:
        await shown(frames)
        with monkeypatch.context() as patch:
            patch.setattr(UsageReports, "last_id", broken)
            await failed.wait()
        await keep(admin, row())

        assert (await shown(frames))["totalRequests"] == 1


async def test_a_gateway_that_stops_ends_the_streams(
    admin: AdminGateway, context: AdminContext
) -> None:
    async with aclosing(feeds_of(context).watch("all")) as frames:
        await shown(frames)
        admin.core.state.is_stopping = True

        with pytest.raises(StopAsyncIteration):
            await anext(frames)


def test_a_client_may_leave(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {}) as here:
        headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
        with httpx2.stream("GET", f"{here.url}/api/usage/stream", headers=headers) as reported:
            first = next(reported.iter_lines())
        for _ in range(200):
            if not here.do(is_looking()):
                break
            time.sleep(0.02)

        assert reported.headers["content-type"].startswith("text/event-stream")
        assert first.startswith("data: {")
        assert not here.do(is_looking())


async def test_an_unknown_period_is_refused_before_anything_is_streamed(
    admin: AdminGateway,
) -> None:
    answer = await admin.call("GET", "/api/usage/stream", params={"period": "1y"}, status=400)

    assert answer["error"] == "Invalid period"
