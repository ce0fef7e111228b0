"""Usage over time: points with timestamps, groups, errors and latencies."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from admin_gateway import AdminGateway
from ledger_rows import DAY, HOUR, MINUTE, NOW, keep, row, total

from gateway_core.storage.moments import iso, local_day

pytestmark = pytest.mark.anyio
PATH = "/api/usage/series"


async def series(admin: AdminGateway, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await admin.call("GET", PATH, params=query)
    return answer


async def test_a_point_tells_everything_about_its_time(admin: AdminGateway) -> None:
    await keep(
        admin,
        row(0, input_tokens=10, output_tokens=5, cached_tokens=4, cost=1500, ttft_ms=60),
        row(0, status="error", duration_ms=1, input_tokens=1),
        row(0, status="upstream_cut"),
        row(0, status="client_gone"),
    )

    answer = await series(admin, period="24h")

    assert answer["interval"] == "hour"
    last = answer["points"][-1]
    assert (last["requests"], last["errors"]) == (4, 2)
    assert (last["promptTokens"], last["completionTokens"], last["cachedTokens"]) == (11, 5, 4)
    assert (last["cost"], last["unpricedRequests"], last["unpricedTokens"]) == (0.0015, 1, 1)
    assert last["latencyMs"]["p50"] == pytest.approx(1000, rel=0.5)
    assert last["ttftMs"]["p95"] == pytest.approx(60, rel=0.5)
    assert answer["points"][0]["latencyMs"] == {"p50": None, "p95": None, "p99": None}
    assert answer["total"] == last


@pytest.mark.parametrize(
    ("query", "interval", "points"),
    [
        ({"period": "24h"}, "hour", 25),
        ({"period": "24h", "interval": "minute"}, "minute", 24 * 60),
        ({"period": "7d"}, "hour", 6 * 24 + 13),
        ({"period": "30d"}, "day", 30),
        ({"period": "365d"}, "day", 365),
        ({"period": "all"}, "hour", 73),
        ({"startDate": "2027-01-13", "endDate": "2027-01-14"}, "hour", 48),
        ({"startDate": "2027-01-15T11:00:00"}, "minute", 61),
    ],
    ids=str,
)
async def test_points_follow_each_other_without_a_gap(
    admin: AdminGateway, query: dict[str, str], interval: str, points: int
) -> None:
    await keep(admin, row(), row(3 * DAY))

    answer = await series(admin, **query)

    stamps = [datetime.fromisoformat(stamp) for stamp in [*answer["timestamps"], answer["until"]]]
    lengths = {(after - before).total_seconds() for before, after in pairwise(stamps)}
    step = {"minute": MINUTE, "hour": HOUR, "day": DAY}[interval]
    assert (answer["interval"], len(answer["timestamps"])) == (interval, points)
    assert lengths == {step}
    assert len(answer["points"]) == points
    assert answer["until"] > iso(NOW) or "endDate" in query


@pytest.mark.parametrize("interval", ["minute", "hour", "day"])
async def test_every_interval_has_the_same_sums(admin: AdminGateway, interval: str) -> None:
    await keep(
        admin,
        *(row(number * HOUR, cost=number, input_tokens=1, ttft_ms=number) for number in range(20)),
    )
    start = datetime.fromtimestamp(NOW - 22 * HOUR).isoformat()

    answer = await series(admin, startDate=start, interval=interval)

    assert answer["total"]["requests"] == 20
    assert total(answer["points"], "requests") == 20
    assert total(answer["points"], "cost") == answer["total"]["cost"] == 190 / 1_000_000
    assert answer["total"]["ttftMs"]["p50"] == pytest.approx(9.5, abs=5)


GROUPS: list[tuple[str, dict[str, tuple[str, int]]]] = [
    ("provider", {"acme": ("Acme", 3), "unknown": ("unknown", 1)}),
    ("model", {"large (acme)": ("large", 2), "small (acme)": ("small", 1)}),
    ("connection", {"c-1": ("c-1", 3)}),
    ("apiKey", {"k-1": ("Deleted key", 2), "local-no-key": ("Local (no API key)", 2)}),
    ("endpoint", {"/v1/messages": ("/v1/messages", 1)}),
    ("combo", {"b-1": ("fast", 1), "no-combo": ("no-combo", 3)}),
    ("status", {"error": ("error", 1), "ok": ("ok", 3)}),
]


@pytest.mark.parametrize(("dimension", "expected"), GROUPS, ids=[name for name, _ in GROUPS])
async def test_calls_are_grouped_by_anything(
    admin: AdminGateway, dimension: str, expected: dict[str, tuple[str, int]]
) -> None:
    refused = {"provider": None, "model_sent": None, "connection_id": None, "status": "error"}
    await keep(
        admin,
        row(0, api_key_id="k-1"),
        row(HOUR, api_key_id="k-1", combo_id="b-1", combo_name="fast"),
        row(2 * HOUR, model_sent="small", endpoint="/v1/messages"),
        row(0, **refused),
    )

    answer = await series(admin, groupBy=dimension)

    found = {
        _identity(group["group"]): (group["name"], group["total"]["requests"])
        for group in answer["groups"]
    }
    assert {name: found[name] for name in expected} == expected
    assert sum(count for _, count in found.values()) == 4
    assert answer["other"] is None


def _identity(group: dict[str, str]) -> str:
    if "model" in group:
        return f"{group['model']} ({group['provider']})"
    return next(iter(group.values()))


async def test_groups_are_those_that_filters_take(admin: AdminGateway) -> None:
    await keep(admin, row(), row(api_key_id="k"), row(combo_id="b"), row(provider=None))

    for dimension in ("provider", "connection", "apiKey", "endpoint", "combo", "status"):
        name = {"connection": "connectionId", "apiKey": "apiKeyId"}.get(dimension, dimension)
        for group in (await series(admin, groupBy=dimension))["groups"]:
            query = {name: group["group"][dimension]}
            page = await admin.call("GET", "/api/usage/history", params=query)
            assert page["total"] == group["total"]["requests"], query


async def test_two_dimensions_make_a_group_of_each_pair(admin: AdminGateway) -> None:
    await keep(admin, row(), row(status="error"), row(provider="beta"))

    answer = await series(admin, groupBy="provider,status")

    groups = [(group["group"]["provider"], group["group"]["status"]) for group in answer["groups"]]
    assert sorted(groups) == [("acme", "error"), ("acme", "ok"), ("beta", "ok")]
    assert {group["name"] for group in answer["groups"]} >= {"Acme / error"}


async def test_the_busiest_groups_are_shown_and_the_others_together(admin: AdminGateway) -> None:
    rows = [row(model_sent=f"m{number}") for number in range(5) for _ in range(number + 1)]
    await keep(admin, *rows)

    answer = await series(admin, groupBy="model", limit=2)

    assert [group["total"]["requests"] for group in answer["groups"]] == [5, 4]
    assert answer["other"]["total"]["requests"] == 6
    assert answer["total"]["requests"] == 15


async def test_a_combo_with_a_new_name_is_still_one_group(admin: AdminGateway) -> None:
    await keep(
        admin,
        row(DAY, combo_id="b", combo_name="before"),
        row(combo_id="b", combo_name="after"),
    )

    answer = await series(admin, period="7d", groupBy="combo")

    assert [group["total"]["requests"] for group in answer["groups"]] == [2]


async def test_latency_is_that_of_answers_not_of_refusals(admin: AdminGateway) -> None:
    slow = [row(duration_ms=8000, ttft_ms=900) for _ in range(50)]
    await keep(admin, *slow, *(row(status="error", duration_ms=2) for _ in range(50)))

    answer = await series(admin)

    assert 7500 <= answer["total"]["latencyMs"]["p50"] <= 10_000
    assert 750 <= answer["total"]["ttftMs"]["p50"] <= 1000


@pytest.mark.parametrize(
    "query",
    [
        {"groupBy": "wind"},
        {"interval": "year"},
        {"period": "soon"},
        {"period": "30d", "interval": "minute"},
        {"endDate": "2027-01-14"},
        {"startDate": "2027-01-14", "endDate": "2027-01-13"},
        {"limit": "0"},
    ],
    ids=str,
)
async def test_what_makes_no_sense_is_refused(admin: AdminGateway, query: dict[str, str]) -> None:
    await admin.call("GET", PATH, params=query, status=400)


async def test_days_are_local_ones(admin: AdminGateway) -> None:
    await keep(admin, row())

    answer = await series(admin, period="30d")

    midnight = datetime.fromtimestamp(NOW).replace(hour=0, minute=0, second=0, microsecond=0)
    assert answer["timestamps"][-1] == iso(midnight.timestamp())
    assert answer["points"][-1]["requests"] == 1
    assert local_day(NOW).isoformat() == "2027-01-15"
