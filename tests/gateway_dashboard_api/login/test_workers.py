"""Signing in where several workers serve: they count together, and a lock holds at all."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import login_gateway
import pytest
from collaborators import replace_collaborator
from login_gateway import PASSWORD, Browser, LoginGateway

from gateway_core.storage.switchable import SwitchableDatabase

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"


@pytest.fixture
async def worker(
    server: LoginGateway, tmp_path: Path, variables: dict[str, str]
) -> AsyncIterator[LoginGateway]:
    """Another one beside the first."""
    replace_collaborator(server.core, "shares_data", True)
    async with login_gateway.opened(tmp_path, variables, shares_data=True) as another:
        yield another


async def fail(server: LoginGateway, times: int = 5) -> None:
    browser = await server.browser(REMOTE)
    for _ in range(times):
        await browser.enter("wrong canary", status=401)


async def wait(server: LoginGateway) -> int | None:
    """Seconds of a lock, or nothing when the password opens."""
    answer = await (await server.browser(REMOTE)).post(
        login_gateway.LOGIN, json={"password": PASSWORD}
    )
    found: int | None = answer.json().get("retryAfter")
    assert (answer.status_code == 429) == (found is not None)
    return found


async def test_a_lock_holds_at_every_worker_and_so_does_its_step(
    server: LoginGateway, worker: LoginGateway
) -> None:
    await fail(server)

    assert await wait(worker) == 30
    for each in (server, worker):
        each.pass_time(30)
    await fail(worker)
    assert await wait(server) == 120


async def test_being_right_at_one_worker_ends_the_steps_at_all(
    server: LoginGateway, worker: LoginGateway
) -> None:
    await fail(server)
    for each in (server, worker):
        each.pass_time(30)

    assert await wait(worker) is None

    await fail(server)
    assert await wait(worker) == 30


async def test_a_reset_ends_the_locks_of_every_worker(
    server: LoginGateway, worker: LoginGateway
) -> None:
    await fail(server)

    await (await worker.command_line()).call("POST", "/api/auth/reset-password")

    assert await wait(server) is None


async def test_guesses_are_counted_together(server: LoginGateway, worker: LoginGateway) -> None:
    for each in (server, worker, server, worker, server):
        await fail(each, 1)

    assert (await wait(server), await wait(worker)) == (30, 30)


async def test_guesses_made_at_the_same_time_cannot_pass_together(
    server: LoginGateway, worker: LoginGateway
) -> None:
    browsers = [await each.browser(REMOTE) for each in (server, worker) * 10]

    statuses = list[int]()
    async with anyio.create_task_group() as together:
        for browser in browsers:

            async def guess(browser: Browser = browser) -> None:
                answer = await browser.post(login_gateway.LOGIN, json={"password": "wrong canary"})
                statuses.append(answer.status_code)

            together.start_soon(guess)

    assert sorted(statuses) == [401] * 5 + [429] * 15


async def test_one_customer_is_counted_once_at_all_workers(
    server: LoginGateway, worker: LoginGateway
) -> None:
    for number, each in enumerate((server, worker, server, worker, server)):
        browser = await each.browser(f"2001:db8:1:1::{number}")
        await browser.enter("wrong canary", status=401)

    stranger = await worker.browser("2001:db8:1:1::ff")
    assert (await stranger.enter(PASSWORD, status=429))["retryAfter"] == 30


async def test_a_locked_address_writes_nothing(server: LoginGateway, worker: LoginGateway) -> None:
    await fail(server)
    database = server.core.stores.database
    before = await database.fetch("SELECT * FROM lockouts")

    assert await wait(worker) == 30

    assert before == await database.fetch("SELECT * FROM lockouts")
    assert [row["address"] for row in before] == [REMOTE]


async def test_one_worker_alone_writes_nothing(server: LoginGateway) -> None:
    await fail(server)

    assert await server.core.stores.database.fetch("SELECT * FROM lockouts") == []
    assert await wait(server) == 30


async def test_a_lock_by_the_clock_of_an_engine_that_was_left_is_forgotten(
    server: LoginGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a time of the wall clock would be years away by the clock of the machine."""
    waited = []
    for engine in ("sqlite", "postgres", "sqlite"):
        monkeypatch.setattr(SwitchableDatabase, "engine", engine)
        before = await wait(server)
        await fail(server)
        waited.append((before, await wait(server)))

    assert waited == [(None, 30)] * 3
