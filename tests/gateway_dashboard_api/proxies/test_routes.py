"""Proxy pools: kept, shown, tested, and used by the accounts that name them."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway
from caller_kinds import with_key, without_credentials
from collaborators import replace_collaborator
from fake_vendor import MockResponse
from real_proxy import VENDOR, RealProxy, real_proxy

from gateway_core.config.environment import Environment
from gateway_core.storage.stores.connection import NewConnection

pytestmark = pytest.mark.anyio
PATH = "/api/proxy-pools"
GONE = "http://127.0.0.1:1"


@pytest.fixture
async def proxy() -> AsyncIterator[RealProxy]:
    async with real_proxy() as here:
        yield here


async def new_pool(admin: AdminGateway, **more: Any) -> dict[str, Any]:
    body = {"name": "office", "proxyUrl": "http://127.0.0.1:3128", **more}
    made: dict[str, Any] = (await admin.call("POST", PATH, body, status=201))["proxyPool"]
    return made


async def account(admin: AdminGateway, **data: Any) -> str:
    """An account whose vendor only a proxy can reach."""
    base = f"http://{VENDOR}:{admin.vendor.port}/v1"
    held = {"apiKey": KEY, "providerSpecificData": {"baseUrl": base, **data}}
    new = NewConnection(provider="acme", name="main", data=held)
    made = await admin.core.stores.connections.create(new)
    await admin.core.refresh()
    return made.id


async def test_a_pool_is_made_shown_changed_and_deleted(admin: AdminGateway) -> None:
    made = await new_pool(admin, noProxy="a.b", strictProxy=True)
    one = f"{PATH}/{made['id']}"

    changed = await admin.call("PUT", one, {"name": "home", "isActive": False})
    shown = await admin.call("GET", one)
    listed = await admin.call("GET", PATH)
    gone = await admin.call("DELETE", one)

    assert made == {
        "id": made["id"],
        "name": "office",
        "type": "http",
        "proxyUrl": "http://127.0.0.1:3128",
        "noProxy": "a.b",
        "isActive": True,
        "strictProxy": True,
        "testStatus": None,
        "lastTestedAt": None,
        "lastError": None,
        "createdAt": made["createdAt"],
        "updatedAt": made["updatedAt"],
    }
    assert changed["proxyPool"] == shown["proxyPool"]
    assert listed["proxyPools"] == [shown["proxyPool"]]
    assert (shown["proxyPool"]["name"], shown["proxyPool"]["isActive"]) == ("home", False)
    assert shown["proxyPool"]["strictProxy"] is True
    assert gone == {"success": True}
    assert await admin.call("GET", PATH) == {"proxyPools": []}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"proxyUrl": "http://127.0.0.1:1"}, "Name is required"),
        ({"name": " ", "proxyUrl": "http://127.0.0.1:1"}, "Name is required"),
        ({"name": "x"}, "Proxy URL is required"),
        ({"name": "x", "proxyUrl": "ftp://127.0.0.1"}, "The proxy's URL must be"),
        ({"name": "x", "proxyUrl": "http://169.254.169.254"}, "The provider's address"),
        ({"name": "x", "proxyUrl": "socks5://127.0.0.1:1", "type": "http"}, "The proxy's URL is"),
        ({"name": "x", "proxyUrl": "http://127.0.0.1:1", "type": "pigeon"}, "Invalid request body"),
        ({"name": "x", "proxyUrl": "nowhere", "type": "vercel"}, "The provider's URL"),
    ],
)
async def test_a_pool_that_makes_no_sense_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert await admin.core.stores.proxy_pools.list() == ()


async def test_the_type_is_derived_from_the_address(admin: AdminGateway) -> None:
    pool = await new_pool(admin, proxyUrl="socks5://127.0.0.1:1080")
    relay = await new_pool(admin, proxyUrl="https://127.0.0.1/relay", type="vercel")

    changed = await admin.call("PUT", f"{PATH}/{pool['id']}", {"proxyUrl": GONE})

    assert (pool["type"], relay["type"]) == ("socks5", "vercel")
    assert changed["proxyPool"]["type"] == "http"


async def test_pools_are_listed_by_whether_they_are_active_and_with_their_use(
    admin: AdminGateway,
) -> None:
    on, off = await new_pool(admin), await new_pool(admin, isActive=False)
    await account(admin, proxyPoolId=on["id"])

    active = await admin.call("GET", f"{PATH}?isActive=true")
    used = await admin.call("GET", f"{PATH}?includeUsage=true&isActive=")
    wrong = await admin.call("GET", f"{PATH}?isActive=perhaps", status=400)

    assert [pool["id"] for pool in active["proxyPools"]] == [on["id"]]
    assert {pool["id"]: pool["boundConnectionCount"] for pool in used["proxyPools"]} == {
        on["id"]: 1,
        off["id"]: 0,
    }
    assert wrong["error"] == "Invalid isActive"


async def test_a_pool_in_use_is_not_deleted(admin: AdminGateway) -> None:
    pool = await new_pool(admin)
    bound = await admin.connect(proxyPoolId=pool["id"])

    refused = await admin.call("DELETE", f"{PATH}/{pool['id']}", status=409)
    await admin.call("PUT", f"/api/providers/{bound['id']}", {"proxyPoolId": "__none__"})
    freed = await admin.call("DELETE", f"{PATH}/{pool['id']}")

    assert refused["error"] == "Proxy pool is currently in use"
    assert refused["boundConnectionCount"] == 1
    assert freed == {"success": True}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_pool_that_is_not_there_is_missing(admin: AdminGateway, method: str) -> None:
    body = {"name": "x"} if method == "PUT" else None

    answer = await admin.call(method, f"{PATH}/nobody", body, status=404)

    assert answer["error"] == "Proxy pool not found"


async def test_an_account_names_only_pools_that_can_carry_its_calls(admin: AdminGateway) -> None:
    relay = await new_pool(admin, proxyUrl="https://127.0.0.1/relay", type="cloudflare")
    body = {"provider": "acme", "name": "main", "apiKey": KEY}

    lost = await admin.call("POST", "/api/providers", {**body, "proxyPoolId": "x"}, status=400)
    kept = await admin.call(
        "POST", "/api/providers", {**body, "proxyPoolId": relay["id"]}, status=400
    )

    assert lost["error"] == "Proxy pool not found"
    assert kept["error"] == "Calls cannot go through a relay of type cloudflare"


async def test_a_decision_node_takes_no_pool(admin: AdminGateway) -> None:
    pool = await new_pool(admin)
    node = {"name": "n", "prefix": "dec", "type": "custom-systemone"}
    await admin.call("POST", "/api/provider-nodes", node, status=201)
    body = {"provider": "dec", "name": "main", "apiKey": KEY, "proxyPoolId": pool["id"]}

    answer = await admin.call("POST", "/api/providers", body, status=400)

    assert answer["error"] == "Proxy pools cannot be used with a decision node"


@pytest.mark.parametrize("kind", ["vercel", "cloudflare"])
async def test_there_is_nothing_to_deploy_a_relay_with(admin: AdminGateway, kind: str) -> None:
    answer = await admin.call("POST", f"{PATH}/{kind}-deploy", {"token": "t"}, status=501)

    assert answer["error"].startswith("No deploy target is bundled")


async def test_a_key_sees_no_password_and_sets_no_proxy(admin: AdminGateway) -> None:
    pool = await new_pool(admin, proxyUrl="http://me:word@127.0.0.1:3128")
    odd = await new_pool(admin, proxyUrl="https://127.0.0.1:3128/relay", type="vercel")
    async with with_key(admin) as key:
        listed = await key.call("GET", PATH)
        one = f"{PATH}/{pool['id']}"
        made = await key.call("POST", PATH, {"name": "x", "proxyUrl": GONE}, status=403)
        changed = await key.call("PUT", one, {"proxyUrl": GONE}, status=403)

    assert {row["id"]: row["proxyUrl"] for row in listed["proxyPools"]} == {
        pool["id"]: "http://***@127.0.0.1:3128",
        odd["id"]: "https://127.0.0.1:3128",
    }
    assert pool["proxyUrl"] == "http://me:word@127.0.0.1:3128"
    assert made["error"] == changed["error"] == "An API key may not set a proxy"
    assert len(await admin.core.stores.proxy_pools.list()) == 2


async def test_pools_require_a_credential(admin: AdminGateway) -> None:
    async with without_credentials(admin) as here:
        await here.call("GET", PATH, status=401)


async def test_calls_of_an_account_go_through_its_pool(
    admin: AdminGateway, proxy: RealProxy
) -> None:
    pool = await new_pool(admin, proxyUrl=proxy.url)
    await account(admin, proxyPoolId=pool["id"])

    answer = await admin.chat("acme/large")

    assert answer.status_code == 200
    assert proxy.reached == [f"{VENDOR}:{admin.vendor.port}"]
    assert len(admin.vendor.calls()) == 1


async def test_a_pool_that_was_switched_off_and_is_strict_lets_nothing_out(
    admin: AdminGateway, proxy: RealProxy
) -> None:
    pool = await new_pool(admin, proxyUrl=proxy.url, strictProxy=True)
    await account(admin, proxyPoolId=pool["id"])
    await admin.call("PUT", f"{PATH}/{pool['id']}", {"isActive": False})

    answer = await admin.chat("acme/large")

    assert answer.status_code == 502
    assert proxy.reached == []
    assert admin.vendor.calls() == []


async def test_a_changed_address_is_in_force_from_the_next_call_on(
    admin: AdminGateway, proxy: RealProxy
) -> None:
    pool = await new_pool(admin, proxyUrl=GONE, strictProxy=True)
    identity = await account(admin, proxyPoolId=pool["id"])
    before = await admin.chat("acme/large")

    await admin.call("PUT", f"{PATH}/{pool['id']}", {"proxyUrl": proxy.url})
    await admin.call("PUT", f"/api/providers/{identity}", {"isActive": True})
    after = await admin.chat("acme/large")

    assert (before.status_code, after.status_code) == (502, 200)


async def test_the_general_proxy_and_an_accounts_own_are_used_too(
    admin: AdminGateway, proxy: RealProxy
) -> None:
    await admin.call(
        "PATCH", "/api/settings", {"outboundProxyEnabled": True, "outboundProxyUrl": proxy.url}
    )
    await account(admin)
    async with real_proxy("socks5", "me:word") as own:
        general = await admin.chat("acme/large")
        [held] = await admin.core.stores.connections.list()
        data = {"connectionProxyEnabled": True, "connectionProxyUrl": own.url}
        await admin.call("PUT", f"/api/providers/{held.id}", data)
        special = await admin.chat("acme/large")

        assert (general.status_code, special.status_code) == (200, 200)
        assert (len(proxy.reached), len(own.reached)) == (1, 1)


async def test_a_test_asks_for_the_page_and_remembers(
    admin: AdminGateway, proxy: RealProxy
) -> None:
    admin.vendor.script = lambda received: MockResponse((b"page",), status=204)
    pool = await new_pool(admin, proxyUrl=proxy.url, isActive=False)
    replace_collaborator(admin.core, "environment", _with_page(admin))

    tested = await admin.call("POST", f"{PATH}/{pool['id']}/test")
    [stored] = await admin.core.stores.proxy_pools.list()

    assert (tested["ok"], tested["status"], tested["error"]) == (True, 204, None)
    assert tested["statusText"] == "No Content"
    assert stored.test_status == "active"
    assert stored.is_active
    assert stored.last_tested_at == tested["testedAt"]
    assert proxy.reached == [f"page.test:{admin.vendor.port}"]


async def test_a_proxy_that_opens_no_way_is_switched_off(admin: AdminGateway) -> None:
    pool = await new_pool(admin, proxyUrl=GONE)

    tested = await admin.call("POST", f"{PATH}/{pool['id']}/test")
    [stored] = await admin.core.stores.proxy_pools.list()

    assert (tested["ok"], tested["status"]) == (False, None)
    assert tested["error"]
    assert (stored.test_status, stored.is_active) == ("error", False)
    assert stored.last_error == tested["error"]


async def test_a_relay_is_not_tested(admin: AdminGateway) -> None:
    relay = await new_pool(admin, proxyUrl="https://127.0.0.1/relay", type="vercel")

    tested = await admin.call("POST", f"{PATH}/{relay['id']}/test")

    assert (tested["ok"], tested["error"]) == (
        False,
        "Calls cannot go through a relay of type vercel",
    )


async def test_a_pool_whose_address_cannot_be_decrypted_shows_an_error(admin: AdminGateway) -> None:
    pool = await new_pool(admin, strictProxy=False)
    await account(admin, proxyPoolId=pool["id"])
    await admin.core.stores.database.execute("UPDATE proxy_pools SET proxy_url = 'v1.AAAA'")
    await admin.core.refresh()

    shown = (await admin.call("GET", f"{PATH}/{pool['id']}"))["proxyPool"]
    answer = await admin.chat("acme/large")

    assert (shown["testStatus"], shown["proxyUrl"]) == ("error", "")
    assert answer.status_code == 502
    assert admin.vendor.calls() == []


def _with_page(admin: AdminGateway) -> Environment:
    page = f"http://page.test:{admin.vendor.port}/"
    return msgspec.structs.replace(admin.core.environment, proxy_test_url=page)
