"""What keys have used of their limits, over REST."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from gateway_keys import PATH, key_for, remote, status_of
from manual_clock import Clock

pytestmark = pytest.mark.anyio
USAGE = f"{PATH}/usage"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def admin(tmp_path: Path, clock: Clock) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {}, clock) as here:
        await here.connect()
        yield here


async def test_a_key_shows_its_use_beside_every_limit(admin: AdminGateway) -> None:
    key = await key_for(
        admin,
        rpmLimit=5,
        tpmLimit=100,
        dailyLimitTokens=50,
        monthlyInputTokenLimit=60,
        monthlyBudget=2.5,
        maxTokens=0,
        policy={"maxCostUsd": 1},
    )
    await admin.call("PUT", f"{PATH}/{key['id']}", {"maxTokens": 1000})
    for _ in range(2):
        assert await status_of(admin, key) == 200

    found = (await admin.call("GET", f"{USAGE}?apiKeyId={key['id']}"))["usage"]

    assert set(found) == {key["id"]}
    use = found[key["id"]]
    assert (use["rpm"], use["tpm"]) == ({"used": 2, "limit": 5}, {"used": 8, "limit": 100})
    sums = {"requests": 2, "inputTokens": 6, "outputTokens": 2, "totalTokens": 8, "cost": 0}
    sums |= {"unpricedRequests": 2, "unpricedTokens": 8}
    assert use["today"] == use["month"] == sums
    rows = {row["field"]: row for row in use["limits"]}
    reported = {name: (row["used"], row["limit"]) for name, row in rows.items()}
    assert reported == {
        "dailyLimitTokens": (8, 50),
        "dailyInputTokenLimit": (6, None),
        "dailyOutputTokenLimit": (2, None),
        "monthlyTokenLimit": (8, None),
        "monthlyInputTokenLimit": (6, 60),
        "monthlyOutputTokenLimit": (2, None),
        "monthlyRequestLimit": (2, None),
        "monthlyBudget": (0, 2.5),
        "maxTokens": (8, 1000),
        "maxCostUsd": (0, 1),
    }
    assert [row["field"] for row in use["limits"] if row["always"]] == ["maxTokens", "maxCostUsd"]
    assert {row["field"] for row in use["limits"] if row["money"]} == {
        "monthlyBudget",
        "maxCostUsd",
    }
    assert rows["maxTokens"]["resetAt"] is None
    assert rows["dailyLimitTokens"]["resetAt"].startswith("2027-01-1")
    assert rows["monthlyBudget"]["resetAt"].startswith(("2027-01-31", "2027-02-01"))


async def test_all_keys_are_shown_by_id(admin: AdminGateway) -> None:
    keys = [await key_for(admin, name) for name in ("one", "two")]
    assert await status_of(admin, keys[0]) == 200
    await admin.core.ledger.flush()

    found = (await admin.call("GET", USAGE))["usage"]

    requests = {name: use["today"]["requests"] for name, use in found.items()}
    assert requests == {keys[0]["id"]: 1, keys[1]["id"]: 0}
    assert found == (await admin.call("GET", f"{USAGE}?apiKeyId="))["usage"]


async def test_daily_and_monthly_limits_reset(admin: AdminGateway, clock: Clock) -> None:
    key = await key_for(admin, dailyLimitTokens=4, monthlyTokenLimit=8)

    async def sums() -> tuple[int, int, int]:
        use = (await admin.call("GET", USAGE))["usage"][key["id"]]
        ever: Any = next(row["used"] for row in use["limits"] if row["field"] == "maxTokens")
        return use["today"]["totalTokens"], use["month"]["totalTokens"], ever

    statuses = [await status_of(admin, key) for _ in range(2)]
    first = await sums()
    clock.move(86400)
    statuses += [await status_of(admin, key)]
    second = await sums()
    clock.move(86400)
    statuses += [await status_of(admin, key)]
    clock.move(29 * 86400)
    third = await sums()

    assert statuses == [200, 429, 200, 429]
    assert (first, second, third) == ((4, 4, 4), (4, 8, 8), (0, 0, 8))


async def test_the_usage_of_an_unknown_key_is_not_found(admin: AdminGateway) -> None:
    answer = await admin.call("GET", f"{USAGE}?apiKeyId=x", status=404)

    assert answer["error"] == "API key not found"


async def test_the_catalog_names_what_a_key_can_be_narrowed_to(admin: AdminGateway) -> None:
    await admin.call("POST", "/api/combos", {"name": "best", "models": ["ac/large"]}, status=201)

    catalog = await admin.call("GET", f"{PATH}/policy-catalog")

    ids = [row["id"] for row in catalog["models"]]
    assert catalog["models"][ids.index("ac/large")] == {
        "id": "ac/large",
        "name": "Acme Large",
        "provider": "acme",
        "kind": "llm",
    }
    assert catalog["combos"] == ["best"]
    assert "auto/glm" in catalog["families"]
    assert all(not name.startswith("built/") for name in ids)


async def test_every_model_of_the_catalog_can_be_allowed_under_that_name(
    admin: AdminGateway,
) -> None:
    catalog = await admin.call("GET", f"{PATH}/policy-catalog")
    for row in catalog["models"]:
        if row["provider"] == "acme" and row["kind"] == "llm":
            key = await key_for(admin, allowedModels=[row["id"]])
            assert await status_of(admin, key, row["id"]) == 200
            async with remote(admin) as client:
                headers = {"x-api-key": key["key"]}
                listed = (await client.get("/v1/models", headers=headers)).json()["data"]
            assert [each["id"] for each in listed] == [row["id"]]
