"""Rows of one provider and the like are found by their hours, and are the same as without them."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from msgspec.structs import asdict

from gateway_core.storage.database import Database
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores.usage import UsageFilter, UsageRecord, UsageStore
from gateway_dashboard_api.usage.ledger import hours as usage_hours
from gateway_dashboard_api.usage.ledger.hours import Stretch, whole
from gateway_dashboard_api.usage.ledger.reports import UsageReports, Which
from gateway_dashboard_api.usage.ledger.sums import Span

pytestmark = pytest.mark.anyio
BEGIN = datetime(2027, 1, 1, tzinfo=UTC)
PARTS = {
    "provider": (None, "acme", "beta"),
    "model": (None, "large", "small"),
    "connection": (None, "c-1"),
    "api_key": (None, "k-1"),
    "endpoint": ("/", "/v1/messages"),
    "combo": (None, "b-1"),
    "status": ("ok", "error"),
}
MOMENTS = some.integers(0, 60 * 60).map(
    lambda minutes: (BEGIN + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:00.000Z")
)


def record(moment: str, **fields: Any) -> UsageRecord:
    usual = {"model_asked": "m", "endpoint": "/", "day": moment[:10]}
    return UsageRecord(request_id="r", started_at=moment, finished_at=moment, **(usual | fields))


ROWS = some.lists(
    some.builds(
        record,
        MOMENTS,
        provider=some.sampled_from(PARTS["provider"]),
        model_sent=some.sampled_from(PARTS["model"]),
        connection_id=some.sampled_from(PARTS["connection"]),
        api_key_id=some.sampled_from(PARTS["api_key"]),
        endpoint=some.sampled_from(PARTS["endpoint"]),
        combo_id=some.sampled_from(PARTS["combo"]),
        status=some.sampled_from(PARTS["status"]),
    ),
    max_size=25,
)
CHOICES = some.builds(
    Which,
    **{name: some.none() | some.sampled_from(values) for name, values in PARTS.items()},
    since=some.none() | MOMENTS,
    until=some.none() | MOMENTS,
    days=some.none(),
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


@settings(max_examples=60, deadline=None)
@given(ROWS, ROWS, CHOICES, some.integers(1, 6), some.integers(0, 8), some.integers(1, 3))
def test_a_page_and_a_count_are_those_of_all_rows_looked_through(
    first: list[UsageRecord],
    second: list[UsageRecord],
    which: Which,
    limit: int,
    offset: int,
    day: int,
) -> None:
    async def work(store: UsageStore, reports: UsageReports) -> None:
        await store.insert_many(first)
        await reports.sums(Which())
        until = f"2027-01-{day:02}"
        await reports.delete(UsageFilter(until=until), "", until)
        await store.insert_many(second)
        everything = await reports.page(Which(), limit=100)

        wanted = [row for row in everything if _is_meant(row, which)]

        assert (
            await reports.page(which, limit=limit, offset=offset)
            == (wanted[offset : offset + limit])
        )
        assert await reports.count(which) == len(wanted)

    with_reports(work)


def _is_meant(row: UsageRecord, which: Which) -> bool:
    pairs = (
        (which.provider, row.provider),
        (which.model, row.model_sent),
        (which.connection, row.connection_id),
        (which.api_key, row.api_key_id),
        (which.endpoint, row.endpoint),
        (which.combo, row.combo_id),
        (which.status, row.status),
    )
    return all(wanted in (None, mine) for wanted, mine in pairs) and (
        (which.since or "") <= row.finished_at < (which.until or "~")
    )


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("", "~", ("", "~")),
        (
            "2027-01-01T08:00:00.000Z",
            "2027-01-01T10:00:00.000Z",
            ("2027-01-01T08", "2027-01-01T10"),
        ),
        (
            "2027-01-01T07:00:00.001Z",
            "2027-01-01T10:59:59.999Z",
            ("2027-01-01T08", "2027-01-01T10"),
        ),
        (
            "2026-12-31T23:30:00.000Z",
            "2027-01-01T01:30:00.000Z",
            ("2027-01-01T00", "2027-01-01T01"),
        ),
        ("2027-01-01T08:10:00.000Z", "2027-01-01T08:50:00.000Z", None),
        ("2027-01-01T08:10:00.000Z", "2027-01-01T09:50:00.000Z", None),
    ],
)
def test_whole_hours_are_those_that_no_bound_cuts(
    since: str, until: str, expected: tuple[str, str] | None
) -> None:
    assert whole(Stretch(since, until)) == (expected and Span("hour", *expected))


class _Asking:
    """A database that notes how much was looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.stretches: list[tuple[str, str]] = []

    async def fetch(self, sql: str, /, **values: Any) -> list[Any]:
        if "FROM usage WHERE" in sql:
            self.stretches.append((values["since"], values["until"]))
        return await self._database.fetch(sql, **values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


async def test_only_hours_with_such_rows_are_looked_through(database: Database) -> None:
    moments = [(BEGIN + timedelta(hours=hour)).isoformat() for hour in range(300)]
    store = UsageStore(database)
    await store.insert_many(
        [
            record(f"{moment[:19]}.000Z", provider="rare" if hour in (3, 4, 200) else "usual")
            for hour, moment in enumerate(moments)
        ]
    )
    asking = _Asking(database)
    reports = UsageReports(cast(Database, asking), store)

    rows = await reports.page(Which(provider="rare"), limit=50)

    assert [row.finished_at[:13] for row in rows] == [moments[n][:13] for n in (200, 4, 3)]
    assert asking.stretches == [
        (moments[200][:13], moments[201][:13]),
        (moments[3][:13], moments[5][:13]),
    ]


async def test_hours_before_the_page_are_skipped_unread(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_hours, "AT_ONCE", 7)
    moments = [(BEGIN + timedelta(hours=hour)).strftime("%Y-%m-%dT%H") for hour in range(100)]
    store = UsageStore(database)
    await store.insert_many(
        [record(f"{moment}:00:00.000Z", provider="acme") for moment in moments for _ in range(3)]
    )
    asking = _Asking(database)
    reports = UsageReports(cast(Database, asking), store)

    rows = await reports.page(Which(provider="acme"), limit=3, offset=3 * 60)

    assert [row.finished_at[:13] for row in rows] == [moments[39]] * 3
    assert asking.stretches == [(moments[39], moments[40])]


async def test_a_ledger_from_before_these_sums_is_summed_again() -> None:
    steps = packaged_migrations("sqlite")
    database = await open_sqlite(":memory:")
    await migrate(database, [step for step in steps if step.number < 25], lambda: 0.0)
    rows = [record(f"2027-01-01T0{hour}:10:00.000Z", provider="acme") for hour in (1, 1, 2, 3)]
    await database.execute_many(
        f"INSERT INTO usage VALUES ({', '.join('?' * 31)})",
        [_old_row(number, row) for number, row in enumerate(rows, 1)],
    )
    await database.execute("UPDATE meta SET value = '4' WHERE key LIKE '%usage'")
    # The sums of before had followed up to the third row.
    await database.execute("INSERT INTO meta (key, value) VALUES ('usage_days.seen', '3')")

    await migrate(database, steps, lambda: 0.0)

    reports = UsageReports(database, UsageStore(database))
    assert await reports.count(Which(provider="acme")) == 4
    found = await reports.page(Which(provider="acme"), limit=10)
    assert [row.id for row in found] == [4, 3, 2, 1]
    kept = [row.finished_at for row in found]
    assert kept == [row.finished_at for row in reversed(rows)]
    await database.close()


def _old_row(number: int, row: UsageRecord) -> tuple[Any, ...]:
    """A row of the table as it was before it had a column for errors."""
    values = {**asdict(row), "dropped": "[]"}
    names = (
        "request_id started_at finished_at provider model_asked model_sent connection_id "
        "api_key_id endpoint client_format upstream_format stream status http_status error_code "
        "input_tokens output_tokens cached_tokens cache_write_tokens reasoning_tokens estimated "
        "cost ttft_ms duration_ms combo_id combo_name attempts dropped day units"
    )
    return (number, *(values[name] for name in names.split()))
