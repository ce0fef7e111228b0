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
