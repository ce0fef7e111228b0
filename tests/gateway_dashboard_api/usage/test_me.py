"""What a key's owner sees of it."""

import pytest
from admin_gateway import AdminGateway, client_of
from gateway_keys import PATH, bearer, key_for, remote, status_of

pytestmark = pytest.mark.anyio
ME = "/api/usage/me"
SENTENCE = "A valid application API key is required."


async def test_a_restricted_key_sees_itself_from_anywhere(admin: AdminGateway) -> None:
    account = await admin.connect(name="work")
    await admin.connect(name="other")
    key = await key_for(
        admin,
        "laptop",
        dailyLimitTokens=10,
        expiresAt="2131-01-01T00:00:00Z",
        allowedModels=["acme/large"],
        providerConnectionIds=[account["id"]],
    )
    assert await status_of(admin, key) == 200

    async with remote(admin) as client:
        answer = await client.get(f"{ME}?format=json", headers=bearer(key))

    body = answer.json()
    assert answer.status_code == 200
    assert key["key"] not in answer.text
    assert body["usage"]["daily"].pop("resetAt")
    assert body == {
        "id": key["id"],
        "name": "laptop",
        "isActive": True,
        "expiresAt": "2131-01-01T00:00:00.000Z",
        "createdAt": key["createdAt"],
        "dailyLimitTokens": 10,
        "policy": {"allowedModels": ["acme/large"]},
        "usage": {
            "lifetime": {
                "totalTokens": 4,
                "totalCost": 0.0,
                "totalRequests": 1,
                "unpricedRequests": 1,
                "unpricedTokens": 4,
            },
            "daily": {"used": 4, "limit": 10, "remaining": 6},
        },
        "connections": [{"id": account["id"], "provider": "acme", "name": "work", "quota": []}],
    }


async def test_a_key_without_scope_sees_the_accounts_that_are_switched_on(
    admin: AdminGateway,
) -> None:
    first, second = await admin.connect(), await admin.connect(name="second")
    await admin.call("PUT", f"/api/providers/{second['id']}", {"isActive": False})
    key = await key_for(admin)

    body = await admin.call("GET", ME, headers=bearer(key))

    assert [row["id"] for row in body["connections"]] == [first["id"]]
    assert body["usage"]["daily"]["remaining"] is None


async def test_a_caller_without_a_valid_key_is_refused(admin: AdminGateway) -> None:
    paused = await key_for(admin, isActive=False)
    gone = await key_for(admin)
    await admin.call("DELETE", f"{PATH}/{gone['id']}")

    by_operator = await admin.call("GET", ME, status=401)
    by_paused = await admin.call("GET", ME, status=401, headers=bearer(paused))
    by_gone = await admin.call("GET", ME, status=401, headers=bearer(gone))
    async with client_of(admin.gateway, "203.0.113.9", operator=False) as client:
        anonymous = await client.get(ME)

    assert by_operator["error"] == by_paused["error"] == by_gone["error"] == SENTENCE
    assert anonymous.status_code == 401


async def test_there_is_one_format(admin: AdminGateway) -> None:
    key = await key_for(admin)

    for text in ("xml", "JSON"):
        answer = await admin.call("GET", f"{ME}?format={text}", status=400, headers=bearer(key))
        assert answer["error"].startswith("Invalid format")
    await admin.call("GET", f"{ME}?format=", headers=bearer(key))
