"""Rows of the ledger by time, and sums of stretches of it."""

from typing import Any, cast

import pytest
from parametrize_ids import parametrize_id

from gateway_core.storage.database import Database
from gateway_core.storage.stores.usage import UsageRecord, UsageStore
from gateway_dashboard_api.usage.ledger.reports import UsageReports, Which
from gateway_dashboard_api.usage.ledger.sums import Span

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database) -> UsageStore:
    return UsageStore(database)


@pytest.fixture
def reports(database: Database, store: UsageStore) -> UsageReports:
    return UsageReports(database, store)


def record(minute: int, **fields: Any) -> UsageRecord:
    moment = f"2027-01-15T08:{minute:02}:30.000Z"
    usual = {"model_asked": "m", "endpoint": "/v1/messages", "day": moment[:10]}
    return UsageRecord(
        request_id=f"r-{minute}", started_at=moment, finished_at=moment, **(usual | fields)
    )


async def test_rows_come_by_the_time_they_ended(store: UsageStore, reports: UsageReports) -> None:
    await store.insert_many([record(2), record(3), record(1)])

    rows = await reports.page(Which(), limit=2)

    assert [row.request_id for row in rows] == ["r-3", "r-2"]


async def test_a_filter_holds_for_rows_and_their_number(
    store: UsageStore, reports: UsageReports
) -> None:
    wanted = {"provider": "acme", "model_sent": "large", "connection_id": "c", "status": "error"}
    others = [{**wanted, name: "other"} for name in ("provider", "model_sent", "connection_id")]
    others.append({**wanted, "status": "ok"})
    rows = [record(number, **fields) for number, fields in enumerate([wanted, *others])]
    await store.insert_many(rows)
    which = Which(provider="acme", model="large", connection="c", status="error")

    found = await reports.page(which, limit=10)

    assert [row.request_id for row in found] == ["r-0"]
    assert await reports.count(which) == 1


async def test_times_bound_rows_and_their_number(store: UsageStore, reports: UsageReports) -> None:
    await store.insert_many([record(minute) for minute in (1, 2, 3)])
    which = Which(since="2027-01-15T08:02", until="2027-01-15T08:03", days=None)

    found = await reports.page(which, limit=10)

    assert [row.request_id for row in found] == ["r-2"]
    assert await reports.count(which) == 1


async def test_going_on_after_a_row_misses_none_and_repeats_none(
    store: UsageStore, reports: UsageReports
) -> None:
    await store.insert_many([record(minute // 3) for minute in range(10)])
    found = await reports.page(Which(), limit=4)

    while more := await reports.after(found[-1], Which(), limit=4):
        found += more
        await store.insert_many([record(59)])

    assert sorted(row.id for row in found) == list(range(1, 11))


async def test_a_row_comes_back_as_it_was(store: UsageStore, reports: UsageReports) -> None:
    before = record(1, stream=True, estimated=True, dropped=("top_k",))
    await store.insert_many([before])

    after = (await reports.page(Which(), limit=1))[0]

    assert (after.stream, after.estimated, after.dropped) == (True, True, ("top_k",))
    assert after.cost is None


async def test_minutes_are_summed(store: UsageStore, reports: UsageReports) -> None:
    await store.insert_many(
        [record(1, cost=1), record(1, input_tokens=5), record(2, output_tokens=3), record(0)]
    )

    minutes = await reports.series.slots(Span("minute", "2027-01-15T08:01", "~"))

    assert [(one.at, one.requests, one.cost) for one in minutes] == [
        ("2027-01-15T08:01", 2, 1),
        ("2027-01-15T08:02", 1, 0),
    ]
    assert minutes[0].input_tokens == 5
    assert minutes[1].output_tokens == 3


async def test_sums_since_a_moment_leave_out_what_was_before(
    store: UsageStore, reports: UsageReports
) -> None:
    await store.insert_many([record(1, cost=1), record(2, cost=2), record(3, cost=4)])

    sums = await reports.sums(Which(since="2027-01-15T08:02", days=None))

    assert [(one.requests, one.cost) for one in sums] == [(2, 6)]


async def test_an_empty_ledger_has_no_beginning(reports: UsageReports) -> None:
    assert await reports.first_at() is None
    assert await reports.last_id() == 0
    assert await reports.count(Which()) == 0
    assert await reports.providers() == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_page_is_read_by_the_index_of_times(database: Database, store: UsageStore) -> None:
    seen: list[str] = []
    reports = UsageReports(cast(Database, _Asking(database, seen)), store)
    which = Which(since="2027", until="2028", days=None)

    await reports.page(which, limit=10)

    plan = " ".join(row["detail"] for row in await _explained(database, seen[0], which))
    assert "usage_by_time" in plan
    assert plan.count("TEMP B-TREE") == 1  # of the page itself, not of all that it is taken from


class _Asking:
    """A database whose questions are noted."""

    def __init__(self, database: Database, seen: list[str]) -> None:
        self._database = database
        self._seen = seen

    async def fetch(self, sql: str, /, **values: Any) -> list[Any]:
        self._seen.append(sql)
        return await self._database.fetch(sql, **values)


async def _explained(database: Database, sql: str, which: Which) -> list[Any]:
    values = {name: value for name in which.__struct_fields__ if (value := getattr(which, name))}
    values.pop("days", None)
    return await database.fetch(f"EXPLAIN QUERY PLAN {sql}", **values, limit=10, offset=0)


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Which(), "3 2 1"),
        (Which(provider="acme"), "3 1"),
        (Which(model="m-2"), "2"),
        (Which(connection="c-1"), "1"),
        (Which(api_key="k-1"), "2 1"),
        (Which(endpoint="/v1/embeddings"), "3"),
        (Which(combo="b-1"), "2"),
        (Which(status="error"), "3"),
        (Which(since="2027-01-15T08:02:30.000Z", days=None), "3 2"),
        (Which(until="2027-01-15T08:02:30.000Z", days=None), "1"),
        (Which(provider="acme", api_key="k-1"), "1"),
        (Which(model="", api_key="k-1"), "1"),
        (Which(request_id="r-2"), "2"),
        (Which(request_id="r-2", provider="acme"), ""),
        (Which(provider="' OR 1=1 --"), ""),
    ],
    ids=parametrize_id,
)
async def test_a_filter_selects_rows(
    store: UsageStore, reports: UsageReports, which: Which, expected: str
) -> None:
    await store.insert_many(
        [
            record(1, provider="acme", connection_id="c-1", api_key_id="k-1"),
            record(2, provider="other", model_sent="m-2", api_key_id="k-1", combo_id="b-1"),
            record(3, provider="acme", endpoint="/v1/embeddings", status="error"),
        ]
    )

    rows = await reports.page(which, limit=9)

    assert " ".join(row.request_id.removeprefix("r-") for row in rows) == expected
    assert await reports.count(which) == len(expected.split())
    if which.request_id is None:
        assert sum(each.requests for each in await reports.sums(which)) == len(rows)
