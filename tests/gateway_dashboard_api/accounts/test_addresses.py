"""Who may say where calls go, and who sees the passwords of proxies."""

from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway
from caller_kinds import SECRET, with_key, with_session

from gateway_core.storage.stores.connection import ConnectionChange

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("variables", [{"JWT_SECRET": SECRET}], ids=[""]),
]
PROXY = "http://me:word@127.0.0.1:3128"
DATA = "providerSpecificData"
ADDRESSES: list[dict[str, Any]] = [
    {DATA: {"baseUrl": "http://127.0.0.1:9"}},
    {DATA: {"baseUrl": None}},
    {DATA: {"endpoint": "http://127.0.0.1:9"}},
    {DATA: {"deep": [{"tokens": "wss://127.0.0.1:9"}]}},
    {"apiKey": '{"client_email": "me", "token_uri": "http://127.0.0.1:9/token"}'},
    {DATA: {"proxyPoolId": ""}},
    {DATA: {"connectionProxyUrl": PROXY}},
    {"connectionProxyUrl": PROXY},
    {"connectionProxyEnabled": False},
    {"connectionNoProxy": "*"},
    {"proxyPoolId": None},
]


@pytest.mark.parametrize("body", ADDRESSES, ids=str)
async def test_a_key_may_not_say_where_calls_go(admin: AdminGateway, body: dict[str, Any]) -> None:
    row = await admin.connect()
    new = {"provider": "acme", "name": "other", "apiKey": KEY, **body}
    async with with_key(admin) as key:
        changed = await key.call("PUT", f"/api/providers/{row['id']}", body, status=403)
        patched = await key.call("PATCH", f"/api/providers/{row['id']}", body, status=403)
        made = await key.call("POST", "/api/providers", new, status=403)
        tried = await key.call("POST", "/api/connections", new, status=403)

    assert {each["error"] for each in (changed, patched, made, tried)} == {
        "An API key may not set a connection's address or proxy"
    }
    assert len(await admin.core.stores.connections.list()) == 1
    assert (await admin.stored(row["id"]))["apiKey"] == KEY


async def test_a_key_may_not_try_an_address(admin: AdminGateway) -> None:
    body = {"provider": "acme", "apiKey": "key-canary", "baseUrl": admin.other.url}
    node = {"baseUrl": admin.other.url, "apiKey": "key-canary"}
    async with with_key(admin) as key:
        await key.call("POST", "/api/providers/validate", body, status=403)
        await key.call("POST", "/api/provider-nodes/validate", node, status=403)

    assert admin.other.calls() == []


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "100.100.100.200"])
async def test_nobody_tries_a_proxy_or_a_crawler_at_what_is_never_called(
    admin: AdminGateway, host: str
) -> None:
    url = f"http://{host}:3128"

    tried = await admin.call("POST", "/api/settings/proxy-test", {"proxyUrl": url}, status=400)
    async with with_session(admin) as person:
        person.client.headers["origin"] = "http://127.0.0.1"
        path, body = "/api/settings/firecrawl/detect", {"baseUrl": url}
        looked = await person.call("POST", path, body, status=400)

    for each in (tried, looked):
        assert each["error"].startswith("The provider's address is not allowed")


async def test_a_key_may_still_add_and_change_accounts(admin: AdminGateway) -> None:
    async with with_key(admin) as key:
        row = await key.connect()
        changed = await key.call(
            "PUT", f"/api/providers/{row['id']}", {"name": "new", DATA: {"region": "eu"}}
        )

    assert changed["connection"]["name"] == "new"
    assert changed["connection"][DATA] == {"region": "eu"}


async def test_a_key_may_not_move_a_node(admin: AdminGateway) -> None:
    body = {"name": "n", "prefix": "mine", "baseUrl": admin.vendor.url}
    node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
    one = f"/api/provider-nodes/{node['id']}"
    async with with_key(admin) as key:
        await key.call("POST", "/api/provider-nodes", {**body, "prefix": "other"}, status=403)
        await key.call("PUT", one, {"baseUrl": admin.other.url}, status=403)
        renamed = await key.call("PUT", one, {"name": "m", "baseUrl": node["baseUrl"]})

    assert renamed["node"]["name"] == "m"
    assert renamed["node"]["baseUrl"] == node["baseUrl"]


@pytest.mark.parametrize(
    "stored", [PROXY, "http://me:word/@h:1", "socks5://u:pass#word@127.0.0.1:1", "word"]
)
async def test_a_key_sees_a_proxy_without_its_password(admin: AdminGateway, stored: str) -> None:
    row = await admin.connect(connectionProxyEnabled=True, connectionProxyUrl=PROXY)
    await _store(admin, row["id"], stored)
    async with with_key(admin) as key:
        listed = (await key.call("GET", "/api/providers"))["connections"]
        one = (await key.call("GET", f"/api/providers/{row['id']}"))["connection"]
        renamed = await key.call("PUT", f"/api/providers/{row['id']}", {"name": "new"})

    own = (await admin.call("GET", f"/api/providers/{row['id']}"))["connection"]
    assert own[DATA]["connectionProxyUrl"] == stored
    for shown in (listed[0], one, renamed["connection"]):
        assert "word" not in str(shown)
        assert "***" in shown[DATA]["connectionProxyUrl"]


async def _store(admin: AdminGateway, identity: str, proxy: str) -> None:
    change = ConnectionChange(data={DATA: {"connectionProxyUrl": proxy}})
    await admin.core.stores.connections.update(identity, change)


async def test_a_key_cannot_pin_a_test(admin: AdminGateway) -> None:
    row = await admin.connect()
    received = {"model": "acme/large", "connectionId": row["id"]}
    many = {"models": [{"model": "acme/large"}], "connectionId": row["id"]}
    async with with_key(admin) as key:
        await key.call("POST", "/api/models/test", received, status=403)
        await key.call("POST", "/api/models/test/batch", many, status=403)
        await key.call("POST", f"/api/providers/{row['id']}/test-models", many, status=403)
        free = await key.call("POST", "/api/models/test", {"model": "acme/large"})

    assert free["ok"] is True
    assert len(admin.vendor.calls()) == 1
