"""Accounts that keys are bound to cannot be deleted so that a key may use more than before."""

from typing import Any

import httpx2
import pytest
from admin_gateway import KEY, AdminGateway
from gateway_keys import PATH, bearer, key_for, remote, status_of

pytestmark = pytest.mark.anyio
CODE = "API_KEY_SCOPE_WOULD_BROADEN"


async def scope_of(admin: AdminGateway, key: dict[str, Any]) -> list[str]:
    row = await admin.call("GET", f"{PATH}/{key['id']}")
    ids: list[str] = row["providerConnectionIds"]
    found = admin.core.identity.keys.get(key["id"])
    assert found is not None
    assert found.connections == set(ids)
    return ids


async def models(client: httpx2.AsyncClient, key: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.get("/v1/models", headers=bearer(key))
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


async def test_the_last_account_of_a_key_cannot_be_deleted(admin: AdminGateway) -> None:
    account = await admin.connect(name="work")
    key = await key_for(admin, "laptop", providerConnectionIds=[account["id"]])

    answer = await admin.call("DELETE", f"/api/providers/{account['id']}", status=409)

    assert answer["code"] == CODE
    assert answer["error"].startswith(
        '"work" is the last scoped account of the API key "laptop", which'
    )
    assert await scope_of(admin, key) == [account["id"]]
    assert await status_of(admin, key) == 200


async def test_one_of_several_accounts_leaves_the_scope_at_once(admin: AdminGateway) -> None:
    first, second = await admin.connect(), await admin.connect(name="second")
    key = await key_for(admin, providerConnectionIds=[first["id"], second["id"]])

    await admin.call("DELETE", f"/api/providers/{first['id']}")

    assert await scope_of(admin, key) == [second["id"]]
    await admin.call("DELETE", f"/api/providers/{second['id']}", status=409)


async def test_a_key_that_is_deleted_or_freed_holds_no_account(admin: AdminGateway) -> None:
    first, second = await admin.connect(), await admin.connect(name="second")
    gone = await key_for(admin, providerConnectionIds=[first["id"]])
    freed = await key_for(admin, "two", providerConnectionIds=[second["id"]])

    await admin.call("DELETE", f"{PATH}/{gone['id']}")
    await admin.call("PUT", f"{PATH}/{freed['id']}", {"providerConnectionIds": []})

    for account in (first, second):
        await admin.call("DELETE", f"/api/providers/{account['id']}")


async def test_a_paused_key_holds_its_accounts_too(admin: AdminGateway) -> None:
    account = await admin.connect()
    await key_for(admin, providerConnectionIds=[account["id"]], isActive=False)

    await admin.call("DELETE", f"/api/providers/{account['id']}", status=409)


async def test_a_node_goes_only_when_its_keys_have_other_accounts(admin: AdminGateway) -> None:
    body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
    own = [(await admin.connect(node["id"], name=name))["id"] for name in ("n1", "n2")]
    other = await admin.connect()
    key = await key_for(admin, "laptop", providerConnectionIds=own)
    path = f"/api/provider-nodes/{node['id']}"

    answer = await admin.call("DELETE", path, status=409)
    still = (await admin.call("GET", path))["node"], sorted(await scope_of(admin, key))
    answered = await status_of(admin, key, "mine/large")
    await admin.call("PUT", f"{PATH}/{key['id']}", {"providerConnectionIds": [*own, other["id"]]})
    gone = await admin.call("DELETE", path)

    assert answer["code"] == CODE
    assert '"n2" is the last scoped account of the API key "laptop"' in answer["error"]
    assert still == (node, sorted(own))
    assert answered == 200
    assert gone == {"success": True}
    assert await scope_of(admin, key) == [other["id"]]
    left = (await admin.call("GET", "/api/providers"))["connections"]
    assert not set(own) & {row["id"] for row in left}


async def test_a_bound_account_may_be_disabled_or_get_another_key(
    admin: AdminGateway,
) -> None:
    account = await admin.connect()
    key = await key_for(admin, providerConnectionIds=[account["id"]])
    path = f"/api/providers/{account['id']}"

    await admin.call("PUT", path, {"isActive": False})
    await admin.connect(name="spare")
    resting = await status_of(admin, key)
    await admin.call("PUT", path, {"isActive": True, "apiKey": KEY})

    assert resting != 200
    assert await status_of(admin, key) == 200


async def test_a_key_sees_the_models_of_its_own_accounts_only(admin: AdminGateway) -> None:
    account = await admin.connect()
    await admin.connect("built", providerSpecificData={"port": admin.vendor.port})
    bound = await key_for(admin, "bound", providerConnectionIds=[account["id"]])
    free = await key_for(admin, "free")

    async with remote(admin) as client:
        seen, all_there = [
            {row["gateway_provider"] for row in (await models(client, key))}
            for key in (bound, free)
        ]

    assert seen == {"acme"}
    assert all_there >= {"acme", "built"}
