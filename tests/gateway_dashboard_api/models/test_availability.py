"""Which accounts rest."""

from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway, refused

pytestmark = pytest.mark.anyio
PATH = "/api/models/availability"
CLEAR = {"action": "clearCooldown", "provider": "ac", "model": "large"}


async def test_no_account_is_in_cooldown_at_first(admin: AdminGateway) -> None:
    await admin.connect()

    assert await admin.call("GET", PATH) == {"models": [], "unavailableCount": 0}


async def test_an_account_in_cooldown_is_shown_with_the_reason(admin: AdminGateway) -> None:
    row = await admin.connect()
    admin.vendor.written["/chat/completions"] = refused(429, f"Too many requests for {KEY}")
    await admin.chat("acme/large")

    answer = await admin.call("GET", PATH)

    until = answer["models"][0].pop("until")
    assert until > row["createdAt"]
    assert answer == {
        "models": [
            {
                "provider": "acme",
                "model": "large",
                "status": "cooldown",
                "connectionId": row["id"],
                "connectionName": "main",
                "lastError": "Too many requests for ***",
            }
        ],
        "unavailableCount": 1,
    }


async def test_a_cooldown_of_a_whole_account_has_a_name_of_its_own(admin: AdminGateway) -> None:
    await admin.connect(apiKey="wrong-canary")
    await admin.chat("acme/large")

    answer = await admin.call("GET", PATH)

    assert [row["model"] for row in answer["models"]] == ["__all"]


async def test_one_account_is_used_again_and_the_other_rests_on(admin: AdminGateway) -> None:
    first = await admin.connect(apiKey="wrong-canary")
    second = await admin.connect(name="second", apiKey="wrong-canary")
    await admin.chat("acme/large")
    before = await admin.call("GET", PATH)
    assert {row["connectionId"] for row in before["models"]} == {first["id"], second["id"]}

    every = {**CLEAR, "model": "__all"}
    await admin.call("POST", PATH, {**every, "connectionId": second["id"]})

    after = await admin.call("GET", PATH)
    assert {row["connectionId"] for row in after["models"]} == {first["id"]}
    await admin.call("POST", PATH, {**every, "connectionId": "nobody"}, status=404)


async def test_an_account_without_a_row_is_shown_too(admin: AdminGateway) -> None:
    admin.vendor.written["/chat/completions"] = refused(503, "Overloaded")
    await admin.chat("open/large")

    row = (await admin.call("GET", PATH))["models"][0]

    assert (row["provider"], row["connectionName"]) == ("open", "Open")
    assert await admin.call("POST", PATH, {**CLEAR, "provider": "open"}) == {"ok": True}
    assert admin.core.cooldowns.all_active() == []


@pytest.mark.parametrize("model", ["large", "__all"])
async def test_a_cooldown_that_is_cleared_is_over_at_once(admin: AdminGateway, model: str) -> None:
    row = await admin.connect()
    admin.vendor.written["/chat/completions"] = refused(429, "Too many requests")
    await admin.chat("acme/large")
    await admin.core.stores.connections.note(admin.core.cooldowns.take_changes())
    admin.vendor.written.clear()

    assert await admin.call("POST", PATH, {**CLEAR, "model": model}) == {"ok": True}

    assert await admin.call("GET", PATH) == {"models": [], "unavailableCount": 0}
    assert (await admin.chat("acme/large")).status_code == 200
    shown = (await admin.call("GET", f"/api/providers/{row['id']}"))["connection"]
    assert shown["testStatus"] == "active"
    assert not any(name.startswith("modelLock_") for name in shown)


async def test_only_the_named_models_cooldown_is_cleared(admin: AdminGateway) -> None:
    await admin.connect()
    admin.vendor.written["/chat/completions"] = refused(429, "Too many requests")
    await admin.chat("acme/large")
    await admin.chat("acme/small")

    await admin.call("POST", PATH, CLEAR)

    answer = await admin.call("GET", PATH)
    assert [row["model"] for row in answer["models"]] == ["small"]


async def test_an_account_that_has_not_answered_since_its_cooldown_is_shown(
    admin: AdminGateway,
) -> None:
    row = await admin.connect()
    state = {"testStatus": "unavailable", "lastError": f"Bad key {KEY}"}
    await admin.core.stores.connections.note({row["id"]: state})

    answer = await admin.call("GET", PATH)

    assert answer["models"] == [
        {
            "provider": "acme",
            "model": "__all",
            "status": "unavailable",
            "connectionId": row["id"],
            "connectionName": "main",
            "lastError": "Bad key ***",
        }
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**CLEAR, "action": "explode"},
        {"action": "clearCooldown", "provider": "acme"},
        {"action": "clearCooldown", "model": "large"},
    ],
)
async def test_another_request_is_invalid(admin: AdminGateway, body: dict[str, Any]) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"] == "Invalid request"
