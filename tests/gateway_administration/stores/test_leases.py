"""Work that one of several processes does."""

import pytest

from gateway_administration.stores.leases import LeaseStore
from gateway_core.storage.database import Database

pytestmark = pytest.mark.anyio


async def test_work_is_somebodys_until_its_time_is_over(database: Database) -> None:
    one, other = LeaseStore(database), LeaseStore(database)

    assert await one.take("retention", 1e9, 1e9 + 10)
    assert not await other.take("retention", 1e9 + 9, 1e9 + 19)
    assert await other.take("cleaning", 1e9 + 9, 1e9 + 19)
    assert await other.take("retention", 1e9 + 10, 1e9 + 20)


async def test_a_clock_that_was_set_back_does_not_hold_it(database: Database) -> None:
    leases = LeaseStore(database)
    await leases.take("retention", 2e9, 2e9 + 10)

    assert await leases.take("retention", 1e9, 1e9 + 10)


async def test_what_is_given_back_is_free_and_what_was_taken_since_is_not(
    database: Database,
) -> None:
    one, other = LeaseStore(database), LeaseStore(database)
    await one.take("login.a", 1e9, 1e9 + 30.25)

    await one.give_back("login.a", 1e9 + 30.25)
    assert await other.take("login.a", 1e9 + 1, 1e9 + 31.5)
    await one.give_back("login.a", 1e9 + 30.25)

    assert not await one.take("login.a", 1e9 + 2, 1e9 + 32)
