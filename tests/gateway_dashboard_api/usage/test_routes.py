"""What the ledger says about a period."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import with_key
from collaborators import replace_collaborator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from ledger_rows import DAY, HOUR, NOW, keep, row, total
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter
from gateway_administration.stores.keys import KeyChange
from gateway_core import Target
from gateway_core.metering.in_flight import InFlight
from gateway_core.metering.request_record import RequestRecord
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.usage import UsageRecord

pytestmark = pytest.mark.anyio
STATS = "/api/usage/stats"
CHART = "/api/usage/chart"
PERIODS = ("today", "24h", "7d", "30d", "60d", "all")
PARTS = ("byProvider", "byModel", "byAccount", "byApiKey", "byEndpoint")
FIGURES = {
    "requests": "totalRequests",
    "promptTokens": "totalPromptTokens",
    "completionTokens": "totalCompletionTokens",
    "cachedTokens": "totalCachedTokens",
    "cost": "totalCost",
}
PRICED = {"unpricedRequests": 0, "unpricedTokens": 0}
"""What stands beside a sum of calls that all have a price."""


async def test_an_empty_ledger_has_every_member(admin: AdminGateway) -> None:
    answer = await admin.call("GET", STATS)

    assert {name: answer[name] for name in FIGURES.values()} == dict.fromkeys(FIGURES.values(), 0)
    assert all(answer[name] == {} for name in PARTS)
    assert len(answer["last10Minutes"]) == 10
    assert answer["pending"] == {"byModel": {}, "byAccount": {}}
    assert (answer["activeRequests"], answer["recentRequests"]) == ([], [])
    assert answer["errorProvider"] == ""


async def test_a_call_is_shown_in_every_part(admin: AdminGateway) -> None:
    account = await admin.connect()
    await keep(
        admin,
        row(
            5,
            connection_id=account["id"],
            input_tokens=100,
            output_tokens=20,
            cached_tokens=30,
            cost=1_500_000,
        ),
    )

    answer = await admin.call("GET", STATS)

    used = {"requests": 1, "promptTokens": 100, "completionTokens": 20, "cachedTokens": 30}
    used |= {"cost": 1.5, **PRICED, "lastUsed": iso(NOW - 5)}
    assert answer["byProvider"] == {"acme": used}
    assert answer["byModel"] == {"large (acme)": {**used, "rawModel": "large", "provider": "acme"}}
    assert answer["byAccount"] == {
        account["id"]: {
            **used,
            "connectionId": account["id"],
            "accountName": "main",
            "provider": "acme",
        }
    }
    assert answer["byEndpoint"] == {
        "/v1/chat/completions": {**used, "endpoint": "/v1/chat/completions"}
    }
    assert answer["last10Minutes"][-1] == {
        "requests": 1,
        "promptTokens": 100,
        "completionTokens": 20,
        "cost": 1.5,
        **PRICED,
    }
    assert answer["recentRequests"][0]["model"] == "large"


async def test_a_key_is_shown_by_its_name_and_a_mask(admin: AdminGateway) -> None:
    mint = admin.core.identity.keys.mint
    text = mint.new()
    key = await own_stores(admin.core).keys.create(
        text, mint.digest(text).hex(), mint.machine_id, KeyChange(name="laptop")
    )
    await keep(admin, row(api_key_id=key.id), row(api_key_id="gone"), row())

    answer = await admin.client.get(STATS)

    shown = answer.json()["byApiKey"]
    assert shown[key.id]["keyName"] == "laptop"
    assert shown[key.id]["apiKeyMasked"].startswith("sk-•")
    assert shown["gone"]["keyName"] == "Deleted key"
    assert shown["local-no-key"]["apiKeyMasked"] is None
    assert text not in answer.text


@pytest.mark.parametrize(
    ("period", "ago"),
    [
        ("today", [0, 11 * HOUR]),
        ("24h", [0, 11 * HOUR, 23 * HOUR]),
        ("7d", [0, 11 * HOUR, 23 * HOUR, 6 * DAY]),
        ("30d", [0, 11 * HOUR, 23 * HOUR, 6 * DAY, 29 * DAY]),
        ("60d", [0, 11 * HOUR, 23 * HOUR, 6 * DAY, 29 * DAY, 59 * DAY]),
        ("all", [0, 11 * HOUR, 23 * HOUR, 6 * DAY, 29 * DAY, 59 * DAY, 400 * DAY]),
    ],
)
async def test_a_period_holds_what_ended_in_it(
    admin: AdminGateway, period: str, ago: list[int]
) -> None:
    every = (0, 11 * HOUR, 23 * HOUR, 6 * DAY, 29 * DAY, 59 * DAY, 400 * DAY)
    await keep(admin, *(row(seconds) for seconds in every))

    answer = await admin.call("GET", STATS, params={"period": period})

    assert answer["totalRequests"] == len(ago)


async def test_dates_are_local_days_and_both_included(admin: AdminGateway) -> None:
    await keep(admin, *(row(days * DAY) for days in range(5)))

    dates = {"startDate": "2027-01-12", "endDate": "2027-01-14"}

    assert (await admin.call("GET", STATS, params=dates))["totalRequests"] == 3


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"period": "3d"}, "Invalid period"),
        ({"period": "7d' OR 1=1"}, "Invalid period"),
        ({"startDate": "2027-01-12"}, "startDate and endDate belong together"),
        ({"startDate": "2027-13-12", "endDate": "2027-01-14"}, "Invalid date"),
        ({"startDate": "2027-01-14", "endDate": "2027-01-12"}, "startDate must not be after"),
    ],
    ids=["unknown", "quoted", "half", "no date", "order"],
)
async def test_a_period_that_makes_no_sense_is_refused(
    admin: AdminGateway, query: dict[str, str], error: str
) -> None:
    answer = await admin.call("GET", STATS, params=query, status=400)

    assert answer["error"].startswith(error)


async def test_requests_in_flight_are_shown(admin: AdminGateway) -> None:
    account = await admin.connect()
    # The pipeline counts the calls; here one stands still.
    replace_collaborator(admin.core, "in_flight", InFlight())
    record = RequestRecord("r", "/v1/chat/completions", "openai", NOW)
    acme = admin.core.snapshot.registry.providers["acme"]
    record.target, record.connection_id = Target(acme, acme.models[0]), account["id"]
    admin.core.in_flight.begin(record)

    during = await admin.call("GET", STATS)
    admin.core.in_flight.end(record)
    after = await admin.call("GET", STATS)

    label = "large (acme)"
    assert during["pending"] == {"byModel": {label: 1}, "byAccount": {account["id"]: {label: 1}}}
    assert during["activeRequests"] == [
        {"model": "large", "provider": "acme", "account": "main", "count": 1}
    ]
    assert after["activeRequests"] == []


async def test_a_vendor_that_just_failed_is_named(admin: AdminGateway) -> None:
    await keep(admin, row(100), row(5, status="error", error_code="bad_gateway"))

    assert (await admin.call("GET", STATS))["errorProvider"] == "acme"


async def test_a_failure_of_long_ago_is_no_trouble(admin: AdminGateway) -> None:
    await keep(admin, row(50, status="error"))

    assert (await admin.call("GET", STATS))["errorProvider"] == ""


async def test_a_served_call_is_counted(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.chat("acme/large")
    await admin.core.ledger.flush()

    answer = await admin.call("GET", STATS, params={"period": "today"})

    assert (answer["totalPromptTokens"], answer["totalCompletionTokens"]) == (3, 1)


async def test_a_day_has_24_hours_and_a_month_30_days(admin: AdminGateway) -> None:
    await keep(admin, row(0, input_tokens=3, output_tokens=4, cost=1_000_000), row(30 * HOUR))

    hours = await admin.call("GET", CHART, params={"period": "today"})
    days = await admin.call("GET", CHART, params={"period": "30d"})

    assert [one["label"] for one in hours][:2] == ["00:00", "01:00"]
    assert (len(hours), len(days)) == (24, 30)
    assert hours[12] == {"label": "12:00", "tokens": 7, "cost": 1.0, **PRICED}
    assert days[-1] == {"label": "Jan 15", "tokens": 7, "cost": 1.0, **PRICED}
    assert days[-2]["tokens"] == 0


@pytest.mark.parametrize(("period", "count"), [("24h", 24), ("7d", 7), ("90d", 90), ("365d", 365)])
async def test_an_empty_chart_has_every_bucket(
    admin: AdminGateway, period: str, count: int
) -> None:
    assert len(await admin.call("GET", CHART, params={"period": period})) == count


async def test_a_chart_of_an_unknown_period_is_refused(admin: AdminGateway) -> None:
    answer = await admin.call("GET", CHART, params={"period": "1y"}, status=400)

    assert answer["error"] == "Invalid period"


async def test_combos_are_shown_by_account(admin: AdminGateway) -> None:
    mine = {"combo_id": "b-1", "combo_name": "fast", "cost": 2_000_000, "input_tokens": 5}
    await keep(admin, row(9, **mine), row(9, **mine), row(9, cost=1_000_000), row(8 * DAY, **mine))

    answer = await admin.call("GET", "/api/usage/combos")

    assert answer["mode"] == "future-only"
    assert answer["boundary"] == iso(NOW - 8 * DAY)
    assert answer["rows"] == [
        {
            "comboId": "b-1",
            "comboName": "fast",
            "connectionId": "c-1",
            "requests": 2,
            "promptTokens": 10,
            "completionTokens": 0,
            "cachedTokens": 0,
            "cost": 4.0,
            **PRICED,
        }
    ]
    assert (answer["unattributed"]["requests"], answer["unattributed"]["cost"]) == (1, 1.0)


async def test_providers_are_those_that_were_used(admin: AdminGateway) -> None:
    await keep(admin, row(), row(provider="was-removed"), row(provider=None))

    answer = await admin.call("GET", "/api/usage/providers")

    assert answer == {
        "providers": [
            {"id": "acme", "name": "Acme"},
            {"id": "was-removed", "name": "was-removed"},
        ]
    }


@pytest.mark.parametrize("path", ["/api/usage/logs", "/api/usage/request-logs"])
async def test_logs_are_the_newest_calls_a_line_each(admin: AdminGateway, path: str) -> None:
    await keep(admin, *(row(number) for number in range(1, 205)))
    await keep(admin, row(0, model_sent="two\nlines\x1b[31m", status="error", error_code="x"))

    lines = await admin.call("GET", path)

    assert len(lines) == 200
    assert lines[0] == f"{iso(NOW)} | two?lines?[31m | acme | c-1 | 0 | 0 | error x"


async def test_every_view_of_a_call_names_what_was_dropped(admin: AdminGateway) -> None:
    await keep(admin, row(0, dropped=("top_k", "part:web_search_call")))

    (line,) = await admin.call("GET", "/api/usage/logs")
    history = await admin.call("GET", "/api/usage/history")
    details = await admin.call("GET", "/api/usage/request-details")
    export = await admin.call("GET", "/api/logs/export")

    assert line.endswith(" | ok | dropped top_k part:web_search_call")
    names = ["top_k", "part:web_search_call"]
    assert history["rows"][0]["dropped"] == names
    assert details["details"][0]["dropped"] == names
    assert export["logs"][0]["dropped"] == names


async def test_a_reset_deletes_only_the_period(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(11 * HOUR), row(13 * HOUR), row(9 * DAY))

    answer = await admin.call("POST", "/api/usage/reset", {"period": "today"})

    assert answer == {"success": True, "deleted": 2, "deletedDetails": 0}
    assert (await admin.call("GET", STATS, params={"period": "all"}))["totalRequests"] == 2
    audited, _ = await own_stores(admin.core).audit.page(AuditFilter(action="usage.reset"))
    assert [one.target for one in audited] == ["today"]


async def test_a_reset_of_24_hours_goes_by_the_clock(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(23 * HOUR), row(25 * HOUR))

    await admin.call("POST", "/api/usage/reset", {"period": "24h"})

    assert (await admin.call("GET", STATS, params={"period": "all"}))["totalRequests"] == 1


@pytest.mark.parametrize("period", ["", "3d", None, 7, ["all"]], ids=str)
async def test_a_reset_of_no_known_period_deletes_nothing(admin: AdminGateway, period: Any) -> None:
    await keep(admin, row(0))

    answer = await admin.call("POST", "/api/usage/reset", {"period": period}, status=400)

    assert answer["error"] == "Invalid period"
    assert (await admin.call("GET", STATS))["totalRequests"] == 1


async def test_a_restricted_key_deletes_nothing(admin: AdminGateway) -> None:
    await keep(admin, row(0))

    async with with_key(admin, rpmLimit=5) as caller:
        await caller.call("POST", "/api/usage/reset", {"period": "all"}, status=403)

    assert (await admin.call("GET", STATS))["totalRequests"] == 1


ROWS = some.lists(
    some.builds(
        row,
        some.integers(0, 70 * DAY),
        provider=some.sampled_from((None, "acme", "beta")),
        model_sent=some.sampled_from((None, "large", "small")),
        connection_id=some.sampled_from((None, "c-1", "c-2")),
        api_key_id=some.sampled_from((None, "k-1", "k-2")),
        endpoint=some.sampled_from(("/v1/messages", "/v1/responses")),
        status=some.sampled_from(("ok", "error", "client_gone")),
        input_tokens=some.integers(0, 10**7),
        output_tokens=some.integers(0, 10**7),
        cached_tokens=some.integers(0, 10**6),
        cost=some.none() | some.integers(0, 10**10),
    ),
    max_size=15,
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS)
def test_parts_and_buckets_add_up_to_the_totals(
    tmp_path_factory: pytest.TempPathFactory, rows: list[UsageRecord]
) -> None:
    async def work(folder: Path) -> None:
        async with opened(folder, {}) as admin:
            await keep(admin, *rows)
            for period in PERIODS:
                await adds_up(admin, period)

    asyncio.run(work(tmp_path_factory.mktemp("ledger")))


async def adds_up(admin: AdminGateway, period: str) -> None:
    stats = await admin.call("GET", STATS, params={"period": period})
    chart = await admin.call("GET", CHART, params={"period": period})
    tokens = stats["totalPromptTokens"] + stats["totalCompletionTokens"]

    for name in PARTS:
        for figure, sum_of_all in FIGURES.items():
            assert total(stats[name], figure) == round(stats[sum_of_all], 6) >= 0
    assert total(chart, "tokens") == tokens
    assert total(chart, "cost") == round(stats["totalCost"], 6)
    assert all(bucket["tokens"] >= 0 and bucket["cost"] >= 0 for bucket in chart)
