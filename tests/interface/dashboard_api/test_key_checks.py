"""A dry run of a key's policy: the answer is the one that a real call gets."""

from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from admin_gateway import AdminGateway, client_of
from caller_kinds import with_key, with_session
from own_stores import own_stores

from gateway_administration.stores.keys import KeyChange

pytestmark = pytest.mark.anyio


async def make_key(admin: AdminGateway, **change: Any) -> tuple[str, str]:
    """The id and the text of a new key."""
    mint = admin.core.identity.keys.mint
    text = mint.new()
    wanted = KeyChange(name="test", **change)
    key = await own_stores(admin.core).keys.create(
        text, mint.digest(text).hex(), mint.machine_id, wanted
    )
    await admin.core.refresh()
    return key.id, text


async def check(admin: AdminGateway, key: str, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = await admin.call("GET", f"/api/keys/{key}/check?{urlencode(query)}")
    return found


async def chat(admin: AdminGateway, key: str, model: str) -> httpx2.Response:
    async with client_of(admin.gateway, "192.0.2.9", operator=False) as client:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
        headers = {"authorization": f"Bearer {key}"}
        return await client.post("/v1/chat/completions", json=body, headers=headers)


DENY = {"modelAccess": {"mode": "deny", "patterns": ["*large*"]}}
CASES = {
    "free": ({}, "ac/large", None),
    "denied": ({"policy": DENY}, "ac/large", "policy"),
    "another model": ({"policy": DENY}, "acme/small", None),
    "not listed": ({"policy": {"allowedModels": ["acme/small"]}}, "acme/large", "policy"),
    "no families": ({"policy": {"allowAutoCombos": False}}, "auto/coding", "policy"),
    "another combo": ({"allowed_combos": ("other",)}, "team", "policy"),
    "paused": ({"is_active": False}, "acme/large", "key"),
    "expired": ({"expires_at": "2020-01-01T00:00:00.000Z"}, "acme/large", "key"),
    "nothing left": ({"policy": {"maxTokens": 0}}, "acme/large", "limits"),
    "no such provider": ({}, "nobody/large", "model"),
    "no chat model": ({}, "acme/vectors", "model"),
    "not connected": ({}, "webby/x", "accounts"),
    "a combo in part": ({"policy": DENY}, "team", None),
}


@pytest.mark.parametrize(("change", "model", "step"), CASES.values(), ids=CASES)
async def test_it_says_what_a_call_is_answered(
    admin: AdminGateway, change: dict[str, Any], model: str, step: str | None
) -> None:
    await admin.connect("acme")
    await admin.call(
        "POST", "/api/combos", {"name": "team", "models": ["acme/large", "acme/small"]}, status=201
    )
    key, text = await make_key(admin, **change)

    found = await check(admin, key, model=model)

    answer = await chat(admin, text, model)
    assert (found["allowed"], found["step"]) == (step is None, step)
    assert found["status"] == answer.status_code
    if step is not None:
        assert found["message"] == answer.json()["error"]["message"]
        assert found["code"] == answer.json()["error"]["code"]


async def test_members_of_a_combo_are_shown_one_by_one(admin: AdminGateway) -> None:
    await admin.connect("acme")
    await admin.call(
        "POST", "/api/combos", {"name": "team", "models": ["acme/large", "acme/small"]}, status=201
    )
    key, _ = await make_key(admin, policy=DENY)

    found = await check(admin, key, model="team")

    assert found["combo"] == "team"
    assert [(row["model"], row["allowed"]) for row in found["members"]] == [
        ("large", False),
        ("small", True),
    ]
    assert [(row["accounts"], row["ready"]) for row in found["members"]] == [(1, 1), (1, 1)]


async def test_accounts_that_the_key_is_not_bound_to_do_not_count(admin: AdminGateway) -> None:
    await admin.connect("acme")
    other = await admin.connect("acme", name="other")
    key, _ = await make_key(admin, provider_connection_ids=(other["id"],))

    found = await check(admin, key, model="acme/large")

    assert (found["allowed"], found["members"][0]["accounts"]) == (True, 1)


async def test_other_endpoints_can_be_checked(admin: AdminGateway) -> None:
    await admin.connect("acme")
    key, _ = await make_key(admin, policy=DENY)

    messages = await check(admin, key, model="acme/large", endpoint="/v1/messages")
    await admin.call("GET", f"/api/keys/{key}/check?endpoint=/v1/nothing", status=400)
    await admin.call("GET", "/api/keys/nobody/check?model=x", status=404)

    assert (messages["step"], messages["status"]) == ("policy", 403)


async def test_nothing_is_sent_counted_or_booked(admin: AdminGateway) -> None:
    await admin.connect("acme")
    key, text = await make_key(admin, policy={"rpmLimit": 1})
    before = len(admin.vendor.calls())

    for _ in range(3):
        assert (await check(admin, key, model="acme/large"))["allowed"]

    assert len(admin.vendor.calls()) == before
    assert (await admin.call("GET", "/api/usage/history"))["total"] == 0
    assert len(admin.core.in_flight) == 0
    assert (await chat(admin, text, "acme/large")).status_code == 200
    used = await check(admin, key, model="acme/large")
    assert (used["step"], used["retryAfter"] > 0) == ("limits", True)


async def test_callers_of_the_management_api_may_look(admin: AdminGateway) -> None:
    key, _ = await make_key(admin)
    async with with_session(admin) as person:
        assert (await check(person, key, model="echo/echo"))["allowed"]
    async with with_key(admin) as other:
        assert (await check(other, key, model="echo/echo"))["allowed"]
