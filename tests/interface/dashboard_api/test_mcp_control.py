"""The control server: every tool, every error, and who is let in."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, client_of, opened
from caller_kinds import SECRET, with_key, with_session, without_credentials
from mcp import Client
from served_gateway import serve_gateway

pytestmark = pytest.mark.anyio
PATH = "/api/mcp/control"
TOOLS = {
    *("list_providers", "list_connections", "list_combos", "list_api_keys", "get_settings"),
    *("toggle_connection_active", "toggle_provider_active", "usage_stats", "token_saver_stats"),
    *("model_list", "get_combo", "delete_combo", "create_combo", "update_combo"),
    *("quota_snapshots", "refresh_quota", "update_settings"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {"JWT_SECRET": SECRET}) as here:
        yield here


async def request(here: AdminGateway, method: str, status: int = 200, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = await here.call("POST", PATH, body, status=status)
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] == 7
    return answer.get("result", answer.get("error"))


async def use(here: AdminGateway, tool: str, **arguments: Any) -> Any:
    result = await request(here, "tools/call", name=tool, arguments=arguments)
    if "content" not in result:
        return result
    [content] = result["content"]
    assert content["type"] == "text"
    assert content["text"].startswith(("{", "[")), "indented JSON"
    return json.loads(content["text"])


async def test_it_introduces_itself(admin: AdminGateway) -> None:
    result = await request(admin, "initialize", protocolVersion="2025-06-18", capabilities={})

    assert result["protocolVersion"] == "2024-11-05"
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "model-gateway-control"


async def test_a_notification_has_no_answer(admin: AdminGateway) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await admin.client.post(PATH, json=body)

    assert (answer.status_code, answer.content) == (202, b"")


async def test_tools_are_listed_with_their_arguments(admin: AdminGateway) -> None:
    tools = {each["name"]: each for each in (await request(admin, "tools/list"))["tools"]}

    assert set(tools) == TOOLS
    assert all(each["description"] for each in tools.values())
    schema = tools["toggle_connection_active"]["inputSchema"]
    assert schema["type"] == "object"
    assert set(schema["required"]) == {"connectionId", "isActive"}


async def test_what_is_there_is_read(admin: AdminGateway) -> None:
    row = await admin.connect()

    assert [each["id"] for each in (await use(admin, "list_connections"))["connections"]] == [
        row["id"]
    ]
    assert "acme" in {each["id"] for each in (await use(admin, "list_providers"))["vendors"]}
    assert (await use(admin, "list_combos"))["combos"] == []
    assert "keys" in await use(admin, "list_api_keys")
    assert "requireLogin" in await use(admin, "get_settings")
    models = (await use(admin, "model_list", kinds=["embedding"]))["models"]
    assert {each["kind"] for each in models} == {"embedding"}


async def test_connections_are_switched(admin: AdminGateway) -> None:
    row = await admin.connect()

    await use(admin, "toggle_connection_active", connectionId=row["id"], isActive=False)
    assert not (await use(admin, "list_connections"))["connections"][0]["isActive"]
    await use(admin, "toggle_provider_active", providerId="acme", isActive=True)
    assert (await use(admin, "list_connections"))["connections"][0]["isActive"]


async def test_combos_are_made_changed_and_deleted(admin: AdminGateway) -> None:
    made = await use(admin, "create_combo", name="both", models=["acme/large"])
    id = made["id"] if "id" in made else made["combo"]["id"]

    await use(admin, "update_combo", id=id, name="both", models=["acme/large", "acme/small"])
    shown = await use(admin, "get_combo", id=id)
    await use(admin, "delete_combo", id=id)

    assert "acme/small" in json.dumps(shown)
    assert (await use(admin, "get_combo", id=id))["code"] == 404


@pytest.mark.parametrize(
    "period", ["today", "24h", "7d", "30d", "60d", "90d", "180d", "365d", "all"]
)
async def test_usage_is_read_for_a_period(admin: AdminGateway, period: str) -> None:
    await admin.connect()
    await admin.chat("acme/large")
    await admin.core.ledger.flush()

    stats = await use(admin, "usage_stats", period=period)

    assert stats["totalRequests"] == 1
    assert (await use(admin, "token_saver_stats", period=period))["tokensSaved"] == 0


async def test_quotas_are_read(admin: AdminGateway) -> None:
    row = await admin.connect()

    found = await use(admin, "quota_snapshots", provider="acme", includeStale=True)

    assert [each["connectionId"] for each in found["snapshots"]] == [row["id"]]
    assert (await use(admin, "refresh_quota", connectionId=row["id"]))["message"]
    assert (await use(admin, "quota_snapshots", connectionId="nobody"))["code"] == 404


async def test_settings_are_changed(admin: AdminGateway) -> None:
    await use(admin, "update_settings", settings={"fallbackStrategy": "round-robin"})

    assert admin.core.snapshot.settings.fallback_strategy == "round-robin"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"[]", 400, -32600),
        (b'{"id": 1}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "mistyped": 1}', 400, -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', 200, -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}', 200, -32602),
    ],
)
async def test_what_is_no_request_has_the_error_of_its_kind(
    admin: AdminGateway, body: bytes, status: int, code: int
) -> None:
    answer = await admin.client.post(PATH, content=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_a_tool_that_fails_says_why(admin: AdminGateway) -> None:
    assert (await use(admin, "format_disk"))["code"] == -32601
    assert (await use(admin, "get_combo", id="nobody"))["code"] == 404
    assert (await use(admin, "get_combo"))["code"] == 400
    assert (await use(admin, "get_combo", id="x", force=True))["code"] == 400
    assert (await use(admin, "update_settings", settings={"requireLogin": "maybe"}))["code"] == 400
    assert (await use(admin, "update_combo", name="x"))["code"] == 400


async def test_who_is_let_in(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        await request(person, "tools/list")
    async with with_key(admin) as key:
        await request(key, "tools/list")
        assert (await use(key, "update_settings", settings={"requireLogin": True})) is not None
    async with with_key(admin, allowedModels=["acme/*"]) as restricted:
        await restricted.call("POST", PATH, {}, status=403)
    async with without_credentials(admin, "192.0.2.1") as stranger:
        await stranger.call("POST", PATH, {}, status=401)


async def test_without_a_credential_it_is_for_this_machine_while_clients_need_no_key(
    admin: AdminGateway,
) -> None:
    async with without_credentials(admin) as local:
        await admin.call("PATCH", "/api/settings", {"requireApiKey": False})
        await request(local, "tools/list")
        refused = await use(local, "update_settings", settings={"requireLogin": False})
        assert refused["message"] == "Settings are changed with a credential only"
        await admin.call("PATCH", "/api/settings", {"requireApiKey": True})
        await local.call("POST", PATH, {}, status=401)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_is_refused_even_on_this_machine(
    admin: AdminGateway, origin: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with client_of(admin.gateway, operator=False) as client:
        foreign = await client.post(PATH, json=body, headers={"origin": origin})
        own = await client.post(PATH, json=body, headers={"origin": "http://127.0.0.1"})

    async with client_of(admin.gateway) as client:
        by_command_line = await client.post(PATH, json=body, headers={"origin": origin})

    # To the gate, a page of another site is nobody on this machine.
    assert foreign.status_code in (401, 403)
    assert by_command_line.status_code == 403
    assert own.status_code == 200


async def test_the_official_client_works_with_it(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {}) as here:
        async with Client(f"{here.url}{PATH}") as client:
            tools = await client.list_tools()
            result = await client.call_tool("list_combos", {})

    assert {tool.name for tool in tools.tools} == TOOLS
    assert not result.is_error
