"""Which accounts rest."""

from typing import Any

import pytest
from office import KEY, Office, refused

pytestmark = pytest.mark.anyio
PATH = "/api/models/availability"
CLEAR = {"action": "clearCooldown", "provider": "ac", "model": "large"}


async def test_everybody_is_there_at_first(office: Office) -> None:
    await office.connect()

    assert await office.ask("GET", PATH) == {"models": [], "unavailableCount": 0}


async def test_an_account_that_rests_is_told_with_the_reason(office: Office) -> None:
    row = await office.connect()
    office.vendor.said["/chat/completions"] = refused(429, f"Too many requests for {KEY}")
    await office.chat("acme/large")

    answer = await office.ask("GET", PATH)

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


async def test_a_whole_account_rests_under_a_name_of_its_own(office: Office) -> None:
    await office.connect(apiKey="wrong-canary")
    await office.chat("acme/large")

    answer = await office.ask("GET", PATH)

    assert [row["model"] for row in answer["models"]] == ["__all"]


async def test_a_stand_in_account_is_told_too(office: Office) -> None:
    office.vendor.said["/chat/completions"] = refused(503, "Overloaded")
    await office.chat("open/large")

    row = (await office.ask("GET", PATH))["models"][0]

    assert (row["provider"], row["connectionName"]) == ("open", "Open")
    assert await office.ask("POST", PATH, {**CLEAR, "provider": "open"}) == {"ok": True}
    assert office.core.cooldowns.all_active() == []


@pytest.mark.parametrize("model", ["large", "__all"])
async def test_a_rest_that_is_ended_by_hand_is_over_at_once(office: Office, model: str) -> None:
    row = await office.connect()
    office.vendor.said["/chat/completions"] = refused(429, "Too many requests")
    await office.chat("acme/large")
    await office.core.stores.connections.note(office.core.cooldowns.take_changes())
    office.vendor.said.clear()

    assert await office.ask("POST", PATH, {**CLEAR, "model": model}) == {"ok": True}

    assert await office.ask("GET", PATH) == {"models": [], "unavailableCount": 0}
    assert (await office.chat("acme/large")).status_code == 200
    shown = (await office.ask("GET", f"/api/providers/{row['id']}"))["connection"]
    assert shown["testStatus"] == "active"
    assert not any(name.startswith("modelLock_") for name in shown)


async def test_only_the_named_models_rest_is_ended(office: Office) -> None:
    await office.connect()
    office.vendor.said["/chat/completions"] = refused(429, "Too many requests")
    await office.chat("acme/large")
    await office.chat("acme/small")

    await office.ask("POST", PATH, CLEAR)

    answer = await office.ask("GET", PATH)
    assert [row["model"] for row in answer["models"]] == ["small"]


async def test_an_account_that_has_not_answered_since_its_rest_is_told(office: Office) -> None:
    row = await office.connect()
    state = {"testStatus": "unavailable", "lastError": f"Bad key {KEY}"}
    await office.core.stores.connections.note({row["id"]: state})

    answer = await office.ask("GET", PATH)

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
async def test_another_request_is_invalid(office: Office, body: dict[str, Any]) -> None:
    answer = await office.ask("POST", PATH, body, status=400)

    assert answer["error"] == "Invalid request"
