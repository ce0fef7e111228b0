"""The calls of the last hours as a file."""

from collections.abc import Sequence

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key, without_credentials
from ledger_rows import HOUR, keep, row
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.stores.usage import UsageRow
from gateway_dashboard_api.usage import export as logs_export
from gateway_dashboard_api.usage.ledger.reports import UsageReports, Which

pytestmark = pytest.mark.anyio
PATH = "/api/logs/export"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs_export, "AT_ONCE", 2)


async def test_the_file_holds_the_last_day(admin: AdminGateway) -> None:
    await keep(admin, *(row(number) for number in range(5)), row(25 * HOUR))

    answer = await admin.client.get(PATH)

    assert answer.headers["content-disposition"] == (
        'attachment; filename="request-logs-2027-01-15.json"'
    )
    document = answer.json()
    assert list(document) == ["count", "hours", "type", "logs"]
    assert (document["count"], document["hours"], document["type"]) == (5, 24, "request-logs")
    assert len({one["id"] for one in document["logs"]}) == 5
    timestamps = [one["timestamp"] for one in document["logs"]]
    assert timestamps == sorted(timestamps, reverse=True)


async def test_a_limited_export_starts_with_the_total(admin: AdminGateway) -> None:
    await keep(admin, *(row(number) for number in range(5)))

    document = await admin.call("GET", PATH, params={"limit": 3, "hours": 168})

    assert list(document)[:6] == ["count", "hours", "type", "capped", "limit", "totalAvailable"]
    assert (document["count"], document["limit"], document["totalAvailable"]) == (3, 3, 5)
    assert len(document["logs"]) == 3


async def test_the_file_holds_what_a_filter_selects(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(1, model_sent="small"), row(30 * HOUR, model_sent="small"))

    of_day = await admin.call("GET", PATH, params={"model": "small"})
    of_dates = await admin.call(
        "GET", PATH, params={"model": "small", "startDate": "2027-01-14", "endDate": "2027-01-14"}
    )

    assert [one["model"] for one in of_day["logs"]] == ["small"]
    assert [one["timestamp"][:10] for one in of_dates["logs"]] == ["2027-01-14"]


async def test_nothing_is_a_file_too(admin: AdminGateway) -> None:
    assert (await admin.call("GET", PATH))["logs"] == []


async def test_a_failure_midway_is_reported_at_the_end_of_the_document(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(admin, *(row(number) for number in range(5)))

    async def broken(
        self: UsageReports, row: UsageRow, which: Which, *, limit: int
    ) -> Sequence[UsageRow]:
        raise StorageUnavailable

    monkeypatch.setattr(UsageReports, "after", broken)
    document = await admin.call("GET", PATH)

    assert (document["count"], document["emitted"]) == (5, 2)
    assert document["error"] == "The export broke off"
    assert len(document["logs"]) == 2


@pytest.mark.parametrize(
    "query",
    [{"hours": "0"}, {"hours": "169"}, {"limit": "50001"}, {"limit": "0"}, {"hours": "x"}],
    ids=str,
)
async def test_numbers_out_of_range_are_refused(admin: AdminGateway, query: dict[str, str]) -> None:
    await admin.call("GET", PATH, params=query, status=400)


async def test_an_export_is_written_down_first(admin: AdminGateway) -> None:
    await admin.call("GET", PATH, params={"limit": 7})

    rows, _ = await own_stores(admin.core).audit.page(AuditFilter(action="logs.export"))
    assert [one.detail for one in rows] == [{"hours": 24, "limit": 7}]


async def test_a_key_and_an_unauthenticated_caller_are_refused(admin: AdminGateway) -> None:
    async with with_key(admin) as caller:
        await caller.call("GET", PATH, status=403)
    async with without_credentials(admin, "192.0.2.9") as caller:
        await caller.call("GET", PATH, status=401)
