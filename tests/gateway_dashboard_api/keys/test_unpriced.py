"""Models without a price: counted beside every cost, and refused to budgets where that is set."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from gateway_keys import PATH, bearer, chat, key_for, remote, status_of

pytestmark = pytest.mark.anyio
PRICE = {"acme": {"large": {"input": 1, "output": 1}}}
UNPRICED = {"unpricedRequests": 1, "unpricedTokens": 4}
"""One call of three tokens in and one out."""
REFUSE = "refuseUnpricedModels"


def figures(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in UNPRICED}


async def unpriced_call(admin: AdminGateway, model: str = "acme/large") -> dict[str, Any]:
    """Make a call of a model without a price, and give the key it was made with."""
    await admin.connect()
    key = await key_for(admin)
    assert await status_of(admin, key, model) == 200
    await admin.core.ledger.flush()
    return key


@pytest.mark.parametrize("period", ["today", "24h", "all"])
async def test_unpriced_calls_and_tokens_stand_beside_the_costs_of_a_period(
    admin: AdminGateway, period: str
) -> None:
    key = await unpriced_call(admin)
    await admin.call("PATCH", "/api/pricing", PRICE)
    assert await status_of(admin, key) == 200
    await admin.core.ledger.flush()

    stats = await admin.call("GET", "/api/usage/stats", params={"period": period})

    assert (stats["totalRequests"], stats["totalCost"]) == (2, 0.000004)
    assert (stats["totalUnpricedRequests"], stats["totalUnpricedTokens"]) == (1, 4)
    for part in ("byProvider", "byModel", "byAccount", "byApiKey", "byEndpoint"):
        (row,) = stats[part].values()
        assert figures(row) == UNPRICED
    assert figures(stats["last10Minutes"][-1]) == UNPRICED


@pytest.mark.parametrize("period", ["today", "24h", "7d"])
async def test_a_charts_buckets_have_them(admin: AdminGateway, period: str) -> None:
    await unpriced_call(admin)

    buckets = await admin.call("GET", "/api/usage/chart", params={"period": period})

    assert [figures(row) for row in buckets if row["tokens"]] == [UNPRICED]


async def test_the_usage_of_combos_has_them(admin: AdminGateway) -> None:
    combo = {"name": "best", "models": ["acme/large"]}
    await admin.call("POST", "/api/combos", combo, status=201)
    await unpriced_call(admin, "best")

    usage = await admin.call("GET", "/api/usage/combos")

    assert figures(usage["rows"][0]) == UNPRICED
    assert figures(usage["unattributed"]) == {"unpricedRequests": 0, "unpricedTokens": 0}


async def test_a_keys_sums_have_them(admin: AdminGateway) -> None:
    key = await unpriced_call(admin)

    row = await admin.call("GET", f"{PATH}/{key['id']}")
    usage = (await admin.call("GET", f"{PATH}/usage"))["usage"][key["id"]]
    async with remote(admin) as client:
        own = (await client.get("/api/usage/me", headers=bearer(key))).json()

    for each in (row["usage"], usage["today"], usage["month"], own["usage"]["lifetime"]):
        assert figures(each) == UNPRICED


async def test_a_call_that_used_nothing_is_not_unpriced(admin: AdminGateway) -> None:
    await admin.connect(apiKey="a-wrong-canary")
    assert await status_of(admin, await key_for(admin)) == 401
    await admin.core.ledger.flush()

    stats = await admin.call("GET", "/api/usage/stats", params={"period": "today"})

    assert (stats["totalRequests"], stats["totalUnpricedRequests"]) == (1, 0)


@pytest.mark.parametrize("budget", [{"monthlyBudget": 5}, {"maxCostUsd": 5}], ids=str)
async def test_a_setting_refuses_models_without_a_price_to_keys_with_a_budget(
    admin: AdminGateway, budget: dict[str, Any]
) -> None:
    await admin.connect()
    limited, free = await key_for(admin, **budget), await key_for(admin, rpmLimit=9)
    assert await status_of(admin, limited) == 200  # As the contract has it.

    await admin.call("PATCH", "/api/settings", {REFUSE: True})

    async with remote(admin) as client:
        refused = await chat(client, limited)
        listed = (await client.get("/v1/models", headers=bearer(limited))).json()["data"]
    assert refused.status_code == 403
    error = refused.json()["error"]
    assert error["code"] == "model_unpriced"
    assert error["message"].startswith('Model "acme/large" has no known price')
    assert "ac/large" not in [row["id"] for row in listed]
    assert await status_of(admin, free) == 200

    await admin.call("PATCH", "/api/pricing", PRICE)

    assert await status_of(admin, limited) == 200
    assert await status_of(admin, limited, "acme/small") == 403


async def test_a_combos_unpriced_members_are_skipped(admin: AdminGateway) -> None:
    await admin.connect()
    combo = {"name": "best", "models": ["acme/small", "acme/large"]}
    await admin.call("POST", "/api/combos", combo, status=201)
    await admin.call("PATCH", "/api/settings", {REFUSE: True})
    key = await key_for(admin, monthlyBudget=5)
    assert await status_of(admin, key, "best") == 403

    await admin.call("PATCH", "/api/pricing", PRICE)

    assert await status_of(admin, key, "best") == 200
    called = [received.json()["model"] for received in admin.vendor.calls("/chat/completions")]
    assert called == ["large"]


async def test_the_answer_that_creates_a_key_with_a_budget_names_the_setting(
    admin: AdminGateway,
) -> None:
    limited = await key_for(admin, monthlyBudget=5)
    other = await key_for(admin, rpmLimit=5)
    (notice,) = limited["notices"]
    await admin.call("PATCH", "/api/settings", {REFUSE: True})
    strict = await key_for(admin, maxCostUsd=5)

    assert f"`{REFUSE}`" in notice
    assert "notices" not in other
    assert "notices" not in strict
