"""Pages of single calls."""

import time
from typing import Any

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key
from ledger_rows import DAY, NOW, keep, row

from gateway_core.storage.moments import iso
from gateway_core.storage.stores.usage import FailedAttempt

pytestmark = pytest.mark.anyio
PATH = "/api/usage/history"
PATHS = (PATH, "/api/usage/request-details")
MORE = {"endpoint": "/v1/messages", "combo_id": "b-1", "combo_name": "fast"}


async def test_a_row_shows_everything_except_the_keys_text(admin: AdminGateway) -> None:
    account = await admin.connect()
    await keep(
        admin,
        row(
            connection_id=account["id"],
            api_key_id="k-1",
            input_tokens=10,
            output_tokens=5,
            cached_tokens=4,
            cache_write_tokens=1,
            reasoning_tokens=2,
            cost=1234,
            ttft_ms=70,
            combo_id="b-1",
            combo_name="fast",
        ),
    )

    answer = await admin.call("GET", PATH)

    shown = answer["rows"][0]
    assert (answer["total"], answer["limit"], answer["offset"]) == (1, 50, 0)
    assert shown["timestamp"] == iso(NOW)
    assert (shown["cost"], shown["costKnown"]) == (0.001234, True)
    assert (shown["accountName"], shown["keyName"]) == ("main", "Deleted key")
    assert shown["apiKeyMasked"].startswith("sk-•")
    assert (shown["latencyMs"], shown["ttftMs"], shown["status"]) == (1000, 70, "ok")
    assert (shown["comboId"], shown["comboName"]) == ("b-1", "fast")
    assert shown["tokens"] == {
        "input": 10,
        "output": 5,
        "cached": 4,
        "cacheCreation": 1,
        "reasoning": 2,
        "estimated": False,
    }


async def test_failed_attempts_are_shown_with_the_names_of_their_accounts(
    admin: AdminGateway,
) -> None:
    account = await admin.connect()
    failures = (
        FailedAttempt("acme", "large", 120, 429, account["id"], "rate_limit_exceeded", "slow"),
        FailedAttempt("other", "small", 400, 504),
    )
    await keep(admin, row(attempts=3, failures=failures))

    (shown,) = (await admin.call("GET", PATH))["rows"]

    one, two = shown["failures"]
    assert one == {
        "provider": "acme",
        "model": "large",
        "connectionId": account["id"],
        "accountName": "main",
        "status": 429,
        "errorCode": "rate_limit_exceeded",
        "error": "slow",
        "endedMs": 120,
    }
    assert (two["accountName"], two["errorCode"], two["endedMs"]) == (None, None, 400)


async def test_a_cost_that_is_not_known_is_marked(admin: AdminGateway) -> None:
    await keep(admin, row())

    shown = (await admin.call("GET", PATH))["rows"][0]

    assert (shown["cost"], shown["costKnown"]) == (0, False)


async def test_pages_follow_each_other(admin: AdminGateway) -> None:
    await keep(admin, *(row(number) for number in range(5)))

    first = await admin.call("GET", PATH, params={"limit": 2})
    second = await admin.call("GET", PATH, params={"limit": 2, "offset": 2})
    beyond = await admin.call("GET", PATH, params={"offset": 99})

    timestamps = [one["timestamp"] for one in first["rows"] + second["rows"]]
    assert timestamps == [iso(NOW - number) for number in range(4)]
    assert first["total"] == second["total"] == beyond["total"] == 5
    assert beyond["rows"] == []


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"provider": "acme"}, 3),
        ({"provider": "ac"}, 3),
        ({"model": "large"}, 3),
        ({"connectionId": "c-2"}, 1),
        ({"status": "error"}, 1),
        ({"startDate": "2027-01-14"}, 3),
        ({"endDate": "2027-01-14"}, 2),
        ({"startDate": "2027-01-13", "endDate": "2027-01-14"}, 2),
        ({"startDate": iso(NOW - DAY)}, 3),
        ({"endDate": iso(NOW - DAY)}, 2),
        ({"startDate": iso(NOW - DAY), "endDate": iso(NOW - DAY)}, 1),
        ({"provider": "acme", "status": "ok", "startDate": "2027-01-14"}, 1),
        ({"apiKeyId": "k-1"}, 1),
        ({"apiKeyId": "local-no-key"}, 3),
        ({"endpoint": "/v1/messages"}, 1),
        ({"combo": "b-1"}, 1),
        ({"combo": "no-combo", "apiKeyId": "local-no-key"}, 3),
        ({"combo": "b-1", "apiKeyId": "k-2"}, 0),
        ({"requestId": "r-1"}, 1),
        ({"requestId": "r-1", "startDate": "2027-01-14"}, 0),
        ({"requestId": "r-1", "status": "error"}, 0),
        ({"connectionId": "unknown"}, 0),
        ({"model": "%"}, 0),
        ({"provider": "acme' OR '1'='1"}, 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", PATHS)
async def test_filters_choose_rows_and_their_number(
    admin: AdminGateway, path: str, query: dict[str, str], count: int
) -> None:
    await keep(
        admin,
        row(0, status="error"),
        row(1, provider="beta", model_sent="small"),
        row(DAY),
        row(2 * DAY, request_id="r-1", connection_id="c-2", api_key_id="k-1", **MORE),
    )

    answer = await admin.call("GET", path, params=query)

    rows = answer.get("rows", answer.get("details"))
    assert len(rows) == count
    assert answer.get("total", answer.get("pagination", {}).get("totalItems")) == count


BAD: list[dict[str, Any]] = [
    *({"limit": text} for text in ("-1", "0", "201", "1e9", "1;select", "٣", "9" * 30)),
    *({"offset": text} for text in ("-1", str(2**63), "x", "1.5")),
    {"status": "ok' OR 1=1"},
    {"status": "%"},
    {"provider": "a\0b"},
    {"model": "%" * 2_000},
    *({"startDate": text} for text in ("yesterday", "2027-02-30", "99999-01-01", "2027-01-1'")),
    *({"endDate": text} for text in ("9999-12-31", "2027-01-15T25:00", "%", "0000-00-00")),
    {"startDate": "2027-01-15", "endDate": "2027-01-14"},
    {"startDate": "2027-01-15T10:00:00Z", "endDate": "2027-01-15T09:00:00Z"},
]


@pytest.mark.parametrize("query", BAD, ids=lambda query: str(query)[:50])
async def test_an_invalid_query_is_refused_with_a_message(
    admin: AdminGateway, query: dict[str, Any]
) -> None:
    answer = await admin.call("GET", PATH, params=query, status=400)

    assert answer["error"].startswith(("Invalid ", "startDate must not be after"))


@pytest.mark.parametrize(
    "query",
    [{"page": "0"}, {"page": str(2**63)}, {"pageSize": "101"}, {"pageSize": "-1"}, {"page": "x"}],
    ids=str,
)
async def test_a_page_that_cannot_be_is_refused(admin: AdminGateway, query: dict[str, str]) -> None:
    await admin.call("GET", PATHS[1], params=query, status=400)


async def test_a_parameter_that_is_repeated_counts_once(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(1, status="error"))

    answer = await admin.call("GET", f"{PATH}?status=ok&status=ok")

    assert answer["total"] == 1


async def test_logs_are_filtered_as_rows_are(admin: AdminGateway) -> None:
    await keep(admin, row(0, model_sent="small"), row(1), row(2, api_key_id="k-1", **MORE))

    for query, model in (({"model": "small"}, "small"), ({"endpoint": "/v1/messages"}, "large")):
        lines = await admin.call("GET", "/api/usage/logs", params=query)
        assert [line.split(" | ")[1] for line in lines] == [model]


@pytest.mark.parametrize("period", ["24h", "7d"])
async def test_sums_are_filtered_as_rows_are(admin: AdminGateway, period: str) -> None:
    await keep(admin, row(0, input_tokens=1), row(3600, input_tokens=2, api_key_id="k-1", **MORE))
    query = {"period": period, "apiKeyId": "k-1", "combo": "b-1", "endpoint": "/v1/messages"}

    stats = await admin.call("GET", "/api/usage/stats", params=query)
    buckets = await admin.call("GET", "/api/usage/chart", params=query)

    assert (stats["totalRequests"], stats["totalPromptTokens"]) == (1, 2)
    assert sum(bucket["tokens"] for bucket in buckets) == 2


async def test_a_row_tells_why_a_call_failed(admin: AdminGateway) -> None:
    await keep(admin, row(status="error", error="Too many requests"))

    history = await admin.call("GET", PATH)
    details = await admin.call("GET", PATHS[1])

    assert history["rows"][0]["error"] == details["details"][0]["error"] == "Too many requests"


async def test_names_of_what_was_deleted_stay_in_the_bill(admin: AdminGateway) -> None:
    account = await admin.connect(name="work")
    body = {"name": "Shed", "prefix": "shed", "baseUrl": f"{admin.other.url}/v1"}
    node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
    body = {"name": "laptop", "machineId": "any"}
    key = await admin.call("POST", "/api/keys", body, status=201)
    of_node = await admin.connect(node["id"], name="inside")
    await keep(
        admin,
        row(0, connection_id=account["id"], api_key_id=key["id"]),
        row(1, provider=node["id"], connection_id=of_node["id"]),
    )

    await admin.call("DELETE", f"/api/keys/{key['id']}")
    await admin.call("DELETE", f"/api/providers/{account['id']}")
    await admin.call("DELETE", f"/api/provider-nodes/{node['id']}")

    rows = (await admin.call("GET", PATH))["rows"]
    assert [(one["accountName"], one["keyName"]) for one in rows] == [
        ("work", "laptop"),
        ("inside", "Local (no API key)"),
    ]
    providers = (await admin.call("GET", "/api/usage/providers"))["providers"]
    assert {"id": node["id"], "name": "Shed"} in providers


async def test_a_large_ledger_is_paged_and_filtered_quickly(admin: AdminGateway) -> None:
    rows = [row(number) for number in range(400)]
    for _ in range(50):
        await admin.core.stores.usage.insert_many(rows)
    await keep(admin, row(5, status="error", model_sent="rare"))
    await admin.call("GET", PATH)  # Adds up what is new.

    for query in (
        {},
        {"offset": 19_000},
        {"status": "error"},
        {"model": "rare", "provider": "acme"},
        {"model": "%" * 200},
        {"endpoint": "/v1/chat/completions", "offset": 19_000},
        {"apiKeyId": "nobody"},
        {"combo": "no-combo", "status": "error"},
        {"requestId": "nobody"},
    ):
        began = time.perf_counter()
        await admin.call("GET", PATH, params=query)
        assert time.perf_counter() - began < 1, query
    assert (await admin.call("GET", PATH, params={"status": "error"}))["total"] == 1
    for query in ({"period": "24h"}, {"period": "30d", "groupBy": "model,provider,status"}):
        began = time.perf_counter()
        series = await admin.call("GET", "/api/usage/series", params=query)
        assert time.perf_counter() - began < 1, query
        assert series["total"]["requests"] == 20_001


async def test_a_key_reads_the_rows_and_finds_no_key_in_them(admin: AdminGateway) -> None:
    await keep(admin, row(api_key_id="k-1"))

    async with with_key(admin) as caller:
        answer = await caller.client.get(PATH)

    assert answer.status_code == 200
    assert caller.client.headers["x-api-key"] not in answer.text
    assert answer.headers["cache-control"] == "no-store"
