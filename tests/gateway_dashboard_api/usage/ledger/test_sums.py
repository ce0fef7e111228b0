"""Sums of the ledger by local day."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gateway_core.storage.database import Database
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores.usage import UsageFilter, UsageRecord, UsageStore
from gateway_dashboard_api.usage.ledger import sums as usage_sums
from gateway_dashboard_api.usage.ledger.reports import UsageReports, Which
from gateway_dashboard_api.usage.ledger.series import TimeSlot
from gateway_dashboard_api.usage.ledger.sums import Span

pytestmark = pytest.mark.anyio
FIGURES = ("input_tokens", "output_tokens", "cached_tokens", "cost")


@pytest.fixture
def store(database: Database) -> UsageStore:
    return UsageStore(database)


@pytest.fixture
def reports(database: Database, store: UsageStore) -> UsageReports:
    return UsageReports(database, store)


def record(date: int, **fields: Any) -> UsageRecord:
    moment = f"2027-01-{date:02}T12:00:00.000Z"
    usual = {
        "request_id": "r",
        "started_at": moment,
        "finished_at": moment,
        "model_asked": "m",
        "endpoint": "/v1/chat/completions",
        "day": moment[:10],
    }
    return UsageRecord(**(usual | fields))


async def days_of(reports: UsageReports) -> list[TimeSlot]:
    return await reports.series.slots(Span("day", "", "~"))


async def test_rows_with_the_same_parts_are_one_sum(
    store: UsageStore, reports: UsageReports
) -> None:
    row = record(1, provider="acme", model_sent="large", input_tokens=3, output_tokens=2, cost=7)
    await store.insert_many([row, row, record(1, provider="acme", model_sent="small")])

    found = {each.model: each for each in await reports.sums(Which())}

    assert (found["large"].requests, found["large"].cost) == (2, 14)
    assert (found["large"].input_tokens, found["large"].output_tokens) == (6, 4)
    assert found["small"].requests == 1
    assert found["small"].connection_id == ""


async def test_rows_that_come_later_are_added_up(store: UsageStore, reports: UsageReports) -> None:
    await store.insert_many([record(1, cost=1)])
    await reports.sums(Which())
    await store.insert_many([record(1, cost=2), record(2, cost=4)])

    days = await days_of(reports)

    assert [(day.at, day.requests, day.cost) for day in days] == [
        ("2027-01-01", 2, 3),
        ("2027-01-02", 1, 4),
    ]


async def test_only_the_days_that_are_asked_for_count(
    store: UsageStore, reports: UsageReports
) -> None:
    await store.insert_many([record(day, cost=day) for day in (1, 2, 3, 4)])

    sums = await reports.sums(Which(days=("2027-01-02", "2027-01-03")))

    assert [(one.requests, one.cost) for one in sums] == [(2, 5)]


async def test_many_rows_are_added_up_in_steps(
    store: UsageStore, reports: UsageReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_sums, "AT_ONCE", 3)
    await store.insert_many([record(1, input_tokens=1) for _ in range(10)])

    assert await reports.count(Which()) == 10
    assert await reports.count(Which(status="error")) == 0


async def test_a_row_without_a_day_is_of_the_one_its_time_names(
    store: UsageStore, reports: UsageReports
) -> None:
    await store.insert_many([record(5, day="")])

    assert [day.at for day in await days_of(reports)] == ["2027-01-05"]


async def test_deleted_rows_leave_the_sums(store: UsageStore, reports: UsageReports) -> None:
    early = record(2, finished_at="2027-01-02T06:00:00.000Z", cost=1)
    await store.insert_many([record(1, cost=8), early, record(2, cost=2), record(3, cost=4)])
    await reports.sums(Which())

    until = UsageFilter(until="2027-01-02T12:00:00.000Z")
    assert await reports.delete(until, "", "2027-01-02") == 2

    assert [(day.at, day.cost) for day in await days_of(reports)] == [
        ("2027-01-02", 2),
        ("2027-01-03", 4),
    ]


class Interrupted(UsageStore):
    """Is stopped when rows are deleted and nothing else is done yet."""

    async def delete(self, which: UsageFilter) -> int:
        await super().delete(which)
        raise StorageUnavailable


async def test_sums_are_right_again_when_the_process_ended_while_rows_were_deleted(
    store: UsageStore, reports: UsageReports, database: Database
) -> None:
    await store.insert_many([record(1), record(2)])
    await reports.sums(Which())
    stopped = UsageReports(database, Interrupted(database))
    with pytest.raises(StorageUnavailable):
        await stopped.delete(UsageFilter(until="2027-01-02"), "", "2027-01-01")

    later = UsageReports(database, store)

    assert [day.at for day in await days_of(later)] == ["2027-01-02"]


ROWS = some.lists(
    some.builds(
        record,
        some.integers(1, 6),
        provider=some.sampled_from((None, "acme", "beta")),
        model_sent=some.sampled_from((None, "large", "small")),
        connection_id=some.sampled_from((None, "c-1", "c-2")),
        api_key_id=some.sampled_from((None, "k-1")),
        status=some.sampled_from(("ok", "error")),
        input_tokens=some.integers(0, 10**9),
        output_tokens=some.integers(0, 10**9),
        cost=some.none() | some.integers(0, 10**12),
    ),
    max_size=12,
)


def with_reports(work: Callable[[UsageStore, UsageReports], Any]) -> None:
    async def run() -> None:
        database = await open_sqlite(":memory:")
        try:
            await migrate(database, packaged_migrations("sqlite"), lambda: 0.0)
            store = UsageStore(database)
            await work(store, UsageReports(database, store))
        finally:
            await database.close()

    asyncio.run(run())


@settings(max_examples=25, deadline=None)
@given(ROWS, ROWS, some.integers(1, 6))
def test_sums_agree_with_the_rows_whatever_was_written_and_deleted(
    first: list[UsageRecord], second: list[UsageRecord], day: int
) -> None:
    async def work(store: UsageStore, reports: UsageReports) -> None:
        await store.insert_many(first)
        await reports.sums(Which())
        await reports.delete(UsageFilter(until=f"2027-01-{day:02}"), "", f"2027-01-{day:02}")
        await store.insert_many(second)

        sums = await reports.sums(Which())
        rows = await reports.page(Which(), limit=100)

        for name in FIGURES:
            figure = sum(getattr(each, name) for each in sums)
            assert figure == sum(getattr(row, name) or 0 for row in rows) >= 0
        for provider in ("", "acme", "beta"):
            mine = [each.cost for each in sums if each.provider == provider]
            assert sum(mine) == sum(
                row.cost or 0 for row in rows if row.provider == (provider or None)
            )
        assert sum(each.requests for each in sums) == await reports.count(Which()) == len(rows)

    with_reports(work)
