from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.storage.database import Database
from gateway_core.storage.stores.key_usage import (
    NOTHING,
    KeySpent,
    KeyUsageStore,
    Spending,
    additions,
    forget,
    spent_of,
)
from gateway_core.storage.stores.usage import UsageRecord, UsageStore

pytestmark = pytest.mark.anyio
SPENT = st.builds(Spending, *[st.integers(0, 10**12)] * 4)


@pytest.fixture
def store(database: Database) -> KeyUsageStore:
    return KeyUsageStore(database)


async def write(database: Database, *spent: tuple[str, str, Spending]) -> None:
    await database.write_all(additions(spent))


def call(key: str | None, day: str, attempts: int = 1, cost: int | None = 7) -> UsageRecord:
    return UsageRecord(
        request_id="r",
        started_at=f"{day}T00:00:00.000Z",
        finished_at=f"{day}T00:00:00.000Z",
        model_asked="m",
        endpoint="/v1/x",
        api_key_id=key,
        day=day,
        attempts=attempts,
        input_tokens=2,
        output_tokens=3,
        cost=cost,
    )


async def test_sums_are_kept_by_day_by_month_and_for_ever(
    store: KeyUsageStore, database: Database
) -> None:
    await write(
        database,
        ("k", "2031-01-31", Spending(1, 1, 1, 1)),
        ("k", "2031-02-01", Spending(1, 10, 10, 10)),
        ("k", "2031-02-28", Spending(1, 100, 100, 100)),
        ("other", "2031-02-28", Spending(9, 9, 9, 9)),
    )
    await write(database, ("k", "2031-02-28", Spending(1, 1000, 1000, 1000)))

    found = await store.spent("k", "2031-02-28")

    assert found == KeySpent(
        day="2031-02-28",
        today=Spending(2, 1100, 1100, 1100),
        month=Spending(3, 1110, 1110, 1110),
        ever=Spending(4, 1111, 1111, 1111),
    )


async def test_a_key_that_was_never_used_has_used_nothing(store: KeyUsageStore) -> None:
    assert await store.spent("k", "2031-02-28") == KeySpent(day="2031-02-28")
    assert await store.ever() == {}


@given(rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(("1", "2")), SPENT)))
def test_adding_up_is_the_same_in_any_order(rows: Sequence[tuple[str, str, Spending]]) -> None:
    def total(spent: Sequence[tuple[str, str, Spending]]) -> Spending:
        found = NOTHING
        for _, _, used in spent:
            found = found.plus(used)
        return found

    assert total(rows) == total(rows[::-1])
    assert total(rows).tokens == sum(used.tokens for _, _, used in rows)


async def test_a_call_that_reached_no_vendor_is_not_counted() -> None:
    records = [
        call("k", "d"),
        call("k", "d", attempts=0),
        call(None, "d"),
        call("k", "d", cost=None),
    ]

    assert list(spent_of(records)) == [("k", "d", Spending(2, 4, 6, 7, 1, 5))]


async def test_the_ledger_and_the_sums_are_written_together(
    store: KeyUsageStore, database: Database
) -> None:
    await UsageStore(database).insert_many([call("k", "2031-01-01"), call("k", "2031-01-01")])

    assert await store.ever() == {"k": Spending(2, 4, 6, 14)}


async def test_a_key_is_forgotten_alone(store: KeyUsageStore, database: Database) -> None:
    await write(database, ("a", "d", Spending(1)), ("b", "d", Spending(2)))

    async with database.transaction() as transaction:
        await forget(transaction, "a")

    assert await store.ever() == {"b": Spending(2)}
    assert (await store.spent("a", "d")).today == NOTHING


async def test_sums_larger_than_any_token_count_are_exact(
    store: KeyUsageStore, database: Database
) -> None:
    large = Spending(1, 10**9, 10**9, 10**15)

    await write(database, *[("k", "2031-01-01", large)] * 1000)

    assert (await store.ever())["k"] == Spending(1000, 10**12, 10**12, 10**18)
