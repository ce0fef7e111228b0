"""Accounts that keys are bound to cannot be deleted so that a key may use more than before."""

from typing import Any

import httpx2
import pytest
from key_ring import PATH, bearer, key_for, remote, status_of
from office import KEY, Office

pytestmark = pytest.mark.anyio
CODE = "API_KEY_SCOPE_WOULD_BROADEN"


async def scope_of(office: Office, key: dict[str, Any]) -> list[str]:
    row = await office.ask("GET", f"{PATH}/{key['id']}")
    ids: list[str] = row["providerConnectionIds"]
    found = office.core.identity.keys.get(key["id"])
    assert found is not None
    assert found.connections == set(ids)
    return ids


async def models(client: httpx2.AsyncClient, key: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.get("/v1/models", headers=bearer(key))
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


async def test_the_last_account_of_a_key_cannot_be_deleted(office: Office) -> None:
    account = await office.connect(name="work")
    key = await key_for(office, "laptop", providerConnectionIds=[account["id"]])

    answer = await office.ask("DELETE", f"/api/providers/{account['id']}", status=409)

    assert answer["code"] == CODE
    assert answer["error"].startswith(
        '"work" is the last scoped account of the API key "laptop", which'
    )
    assert await scope_of(office, key) == [account["id"]]
    assert await status_of(office, key) == 200


async def test_one_of_several_accounts_leaves_the_scope_at_once(office: Office) -> None:
    first, second = await office.connect(), await office.connect(name="second")
    key = await key_for(office, providerConnectionIds=[first["id"], second["id"]])

    await office.ask("DELETE", f"/api/providers/{first['id']}")

    assert await scope_of(office, key) == [second["id"]]
    await office.ask("DELETE", f"/api/providers/{second['id']}", status=409)


async def test_a_key_that_is_deleted_or_freed_holds_no_account(office: Office) -> None:
    first, second = await office.connect(), await office.connect(name="second")
    gone = await key_for(office, providerConnectionIds=[first["id"]])
    freed = await key_for(office, "two", providerConnectionIds=[second["id"]])

    await office.ask("DELETE", f"{PATH}/{gone['id']}")
    await office.ask("PUT", f"{PATH}/{freed['id']}", {"providerConnectionIds": []})

    for account in (first, second):
        await office.ask("DELETE", f"/api/providers/{account['id']}")


async def test_a_paused_key_holds_its_accounts_too(office: Office) -> None:
    account = await office.connect()
    await key_for(office, providerConnectionIds=[account["id"]], isActive=False)

    await office.ask("DELETE", f"/api/providers/{account['id']}", status=409)


async def test_a_node_goes_only_when_its_keys_have_other_accounts(office: Office) -> None:
    body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{office.vendor.url}/v1"}
    node = (await office.ask("POST", "/api/provider-nodes", body, status=201))["node"]
    own = [(await office.connect(node["id"], name=name))["id"] for name in ("n1", "n2")]
    other = await office.connect()
    key = await key_for(office, "laptop", providerConnectionIds=own)
    path = f"/api/provider-nodes/{node['id']}"

    answer = await office.ask("DELETE", path, status=409)
    still = (await office.ask("GET", path))["node"], sorted(await scope_of(office, key))
    answered = await status_of(office, key, "mine/large")
    await office.ask("PUT", f"{PATH}/{key['id']}", {"providerConnectionIds": [*own, other["id"]]})
    gone = await office.ask("DELETE", path)

    assert answer["code"] == CODE
    assert '"n2" is the last scoped account of the API key "laptop"' in answer["error"]
    assert still == (node, sorted(own))
    assert answered == 200
    assert gone == {"success": True}
    assert await scope_of(office, key) == [other["id"]]
    left = (await office.ask("GET", "/api/providers"))["connections"]
    assert not set(own) & {row["id"] for row in left}


async def test_an_account_may_rest_or_get_another_key_while_keys_are_bound_to_it(
    office: Office,
) -> None:
    account = await office.connect()
    key = await key_for(office, providerConnectionIds=[account["id"]])
    path = f"/api/providers/{account['id']}"

    await office.ask("PUT", path, {"isActive": False})
    await office.connect(name="spare")
    resting = await status_of(office, key)
    await office.ask("PUT", path, {"isActive": True, "apiKey": KEY})

    assert resting != 200
    assert await status_of(office, key) == 200


async def test_a_key_sees_the_models_of_its_own_accounts_only(office: Office) -> None:
    account = await office.connect()
    await office.connect("built", providerSpecificData={"port": office.vendor.port})
    bound = await key_for(office, "bound", providerConnectionIds=[account["id"]])
    free = await key_for(office, "free")

    async with remote(office) as client:
        seen, all_there = [
            {row["gateway_provider"] for row in (await models(client, key))}
            for key in (bound, free)
        ]

    assert seen == {"acme"}
    assert all_there >= {"acme", "built"}
