"""Signing in where several workers serve: they count together, and a lock holds at all."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import front_door
import pytest
from front_door import PASSWORD, Browser, House

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"


@pytest.fixture
async def worker(house: House, tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[House]:
    """Another one beside the first."""
    house.core.shares_data = True
    async with front_door.opened(tmp_path, variables, shares_data=True) as another:
        yield another


async def fail(house: House, times: int = 5) -> None:
    browser = await house.browser(REMOTE)
    for _ in range(times):
        await browser.enter("wrong canary", status=401)


async def wait(house: House) -> int | None:
    """Seconds of a lock, or nothing when the password opens."""
    answer = await (await house.browser(REMOTE)).post(front_door.LOGIN, json={"password": PASSWORD})
    found: int | None = answer.json().get("retryAfter")
    assert (answer.status_code == 429) == (found is not None)
    return found


async def test_a_lock_holds_at_every_worker_and_so_does_its_step(
    house: House, worker: House
) -> None:
    await fail(house)

    assert await wait(worker) == 30
    for each in (house, worker):
        each.pass_time(30)
    await fail(worker)
    assert await wait(house) == 120


async def test_being_right_at_one_worker_ends_the_steps_at_all(house: House, worker: House) -> None:
    await fail(house)
    for each in (house, worker):
        each.pass_time(30)

    assert await wait(worker) is None

    await fail(house)
    assert await wait(worker) == 30


async def test_a_reset_ends_the_locks_of_every_worker(house: House, worker: House) -> None:
    await fail(house)

    await (await worker.command_line()).ask("POST", "/api/auth/reset-password")

    assert await wait(house) is None


async def test_guesses_are_counted_together(house: House, worker: House) -> None:
    for each in (house, worker, house, worker, house):
        await fail(each, 1)

    assert (await wait(house), await wait(worker)) == (30, 30)


async def test_guesses_made_at_the_same_time_cannot_pass_together(
    house: House, worker: House
) -> None:
    browsers = [await each.browser(REMOTE) for each in (house, worker) * 10]

    statuses = list[int]()
    async with anyio.create_task_group() as together:
        for browser in browsers:

            async def guess(browser: Browser = browser) -> None:
                answer = await browser.post(front_door.LOGIN, json={"password": "wrong canary"})
                statuses.append(answer.status_code)

            together.start_soon(guess)

    assert sorted(statuses) == [401] * 5 + [429] * 15


async def test_one_customer_is_counted_once_at_all_workers(house: House, worker: House) -> None:
    for number, each in enumerate((house, worker, house, worker, house)):
        browser = await each.browser(f"2001:db8:1:1::{number}")
        await browser.enter("wrong canary", status=401)

    stranger = await worker.browser("2001:db8:1:1::ff")
    assert (await stranger.enter(PASSWORD, status=429))["retryAfter"] == 30


async def test_a_locked_address_writes_nothing(house: House, worker: House) -> None:
    await fail(house)
    database = house.core.stores.database
    before = await database.fetch("SELECT * FROM lockouts")

    assert await wait(worker) == 30

    assert before == await database.fetch("SELECT * FROM lockouts")
    assert [row["address"] for row in before] == [REMOTE]


async def test_one_worker_alone_writes_nothing(house: House) -> None:
    await fail(house)

    assert await house.core.stores.database.fetch("SELECT * FROM lockouts") == []
    assert await wait(house) == 30
