"""What keys have used together, and reservations, in either database."""

import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.stores.key_usage import NOTHING, Spending, additions
from gateway_groups import store

pytestmark = pytest.mark.anyio
NOW = 1_900_000_000.0


async def test_keys_are_summed_by_day_month_and_life(database: Database) -> None:
    used = [
        ("a", "2031-05-05", Spending(1, 10, 1, 100)),
        ("b", "2031-05-05", Spending(2, 20, 2, 200)),
        ("b", "2031-05-01", Spending(4, 40, 4, 400)),
        ("a", "2031-04-30", Spending(8, 80, 8, 800)),
        ("other", "2031-05-05", Spending(16, 160, 16, 1600)),
    ]
    await database.write_all(additions(used))

    spent = await store.spent_by(database, ["a", "b"], "2031-05-05")

    assert spent.today == Spending(3, 30, 3, 300)
    assert spent.month == Spending(7, 70, 7, 700)
    assert spent.ever == Spending(15, 150, 15, 1500)


async def test_many_keys_are_summed_and_none_are_nothing(database: Database) -> None:
    keys = [f"k{number}" for number in range(2 * store.IDS_AT_ONCE + 1)]
    used = [(key, "2031-05-05", Spending(1, 1, 1, 1)) for key in keys]
    await database.write_all(additions(used))

    assert (await store.spent_by(database, keys, "2031-05-05")).ever.requests == len(keys)
    assert (await store.spent_by(database, [], "2031-05-05")).ever == NOTHING


async def test_reservations_are_renewed_released_and_expire(database: Database) -> None:
    most = Spending(1, 10, 2, 300)
    for request, group, process in (("1", "g", "p"), ("2", "g", "q"), ("2", "h", "q")):
        await store.reserve(database, request, group, process, most, NOW + 60)

    await store.renew(database, "p", NOW + 120)
    assert await store.reserved(database, "g", NOW) == Spending(2, 20, 4, 600)
    assert await store.reserved(database, "g", NOW + 60) == most
    await store.expire(database, NOW + 60)
    assert await store.reserved(database, "h", NOW) == NOTHING
    await store.release(database, ["1"])
    assert await store.reserved(database, "g", NOW) == NOTHING
