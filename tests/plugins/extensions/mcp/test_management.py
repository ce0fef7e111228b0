"""Instances and keys, as operators manage them."""

import json

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key, with_session, without_credentials
from mcp_gateway import PATH, McpGateway
from mcp_servers import TOKEN

pytestmark = pytest.mark.anyio
HTTP = {"slug": "one", "kind": "http", "url": "http://127.0.0.1:9/mcp?key=canary"}
PROGRAM = {"slug": "tool", "kind": "command", "command": "true"}


async def test_an_instance_is_added_changed_and_deleted(admin: AdminGateway) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    made = await admin.call("POST", f"{PATH}/instances", {**HTTP, "headers": headers}, status=201)
    assert made["instance"]["url"] == "http://127.0.0.1:9/mcp?…"
    await admin.call("POST", f"{PATH}/instances", HTTP, status=409)
    changed = await admin.call("PATCH", f"{PATH}/instances/one", {"title": "Search"})
    assert changed["instance"]["title"] == "Search"
    assert changed["instance"]["headerNames"] == ["Authorization"]
    [listed] = (await admin.call("GET", f"{PATH}/instances"))["instances"]
    assert listed == changed["instance"]
    await admin.call("DELETE", f"{PATH}/instances/one")
    await admin.call("GET", f"{PATH}/instances/one", status=404)
    await admin.call("DELETE", f"{PATH}/instances/one", status=404)


async def test_headers_are_not_sent_to_another_server_than_they_were_stored_for(
    admin: AdminGateway,
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    await admin.call("POST", f"{PATH}/instances", {**HTTP, "headers": headers}, status=201)
    elsewhere = {"url": "http://127.0.0.2:9/mcp"}

    await admin.call("PATCH", f"{PATH}/instances/one", elsewhere, status=400)
    await admin.call("PATCH", f"{PATH}/instances/one", {**elsewhere, "headers": {}})


async def test_what_is_stored_holds_no_secret(admin: AdminGateway) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    await admin.call("POST", f"{PATH}/instances", {**HTTP, "headers": headers}, status=201)
    made = await admin.call("POST", f"{PATH}/keys", {"name": "agent"}, status=201)

    rows = await admin.core.stores.database.fetch("SELECT scope, key, value FROM kv")

    stored = json.dumps([dict(row) for row in rows])
    assert "mcpInstances" in stored
    assert "mcpKeys" in stored
    assert "canary" not in stored
    assert made["key"] not in stored


@pytest.mark.parametrize(
    "members",
    [
        {"slug": "a"},
        {"slug": "Upper"},
        {"slug": "a__b"},
        {"slug": "a" * 41},
        {"kind": "carrier-pigeon"},
        {"transport": "stdio"},
        {"url": ""},
        {"url": "file:///etc/passwd"},
        {"url": "http://user:pass@127.0.0.1/"},
        {"headers": {"Host": "x"}},
        {"headers": {"X-Forwarded-For": "x"}},
        {"headers": {"X-A": "a\r\nB: c"}},
        {"command": "true"},
        {"kind": "command"},
        {"mistyped": 1},
    ],
)
async def test_what_is_no_instance_is_refused(admin: AdminGateway, members: object) -> None:
    assert isinstance(members, dict)
    await admin.call("POST", f"{PATH}/instances", {**HTTP, **members}, status=400)


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "0.0.0.0"])
async def test_addresses_that_the_gateway_never_calls_are_refused(
    admin: AdminGateway, host: str
) -> None:
    body = {**HTTP, "url": f"http://{host}/latest"}

    refused = await admin.call("POST", f"{PATH}/instances", body, status=403)

    assert refused == {"error": "URL not allowed", "blocked": True}


async def test_an_api_key_sets_no_programs(here: McpGateway) -> None:
    async with with_key(here.admin) as key:
        await key.call("POST", f"{PATH}/instances", PROGRAM, status=403)
        await key.call("POST", f"{PATH}/instances", HTTP, status=201)
    async with with_session(here.admin) as person:
        origin = {"origin": "http://127.0.0.1"}
        await person.call("POST", f"{PATH}/instances", PROGRAM, status=201, headers=origin)
    async with with_key(here.admin) as key:
        await key.call("PATCH", f"{PATH}/instances/tool", {"args": ["x"]}, status=403)


async def test_keys_are_made_and_revealed_on_this_machine_only(here: McpGateway) -> None:
    made = await here.admin.call("POST", f"{PATH}/keys", {"name": "agent"}, status=201)
    assert made["key"].startswith("sk-")
    reveal = f"{PATH}/keys/{made['id']}/reveal"
    assert (await here.admin.call("GET", reveal))["key"] == made["key"]
    async with with_session(here.admin) as person:
        origin = {"origin": "http://127.0.0.1"}
        refused = await person.call(
            "POST", f"{PATH}/keys", {"name": "x"}, status=403, headers=origin
        )
        assert refused["error"] == "Key creation is only available from local requests."
        refused = await person.call("GET", reveal, status=403, headers=origin)
        assert refused["error"] == "Key reveal is only available from local requests."
    async with with_key(here.admin) as key:
        await key.call("GET", reveal, status=403)
        await key.call("POST", f"{PATH}/keys", {"name": "x"}, status=403)
    async with without_credentials(here.admin, "192.0.2.1") as stranger:
        await stranger.call("GET", f"{PATH}/keys", status=401)
    [listed] = (await here.admin.call("GET", f"{PATH}/keys"))["keys"]
    assert made["key"] not in json.dumps(listed)


async def test_a_new_instance_of_an_old_name_is_granted_to_no_key(here: McpGateway) -> None:
    url = "https://mcp.example.com/mcp"
    await here.add("search", url)
    await here.add("files", url)
    await here.key(search=["*"], files=["read"])

    await here.admin.call("DELETE", f"{PATH}/instances/search")
    await here.add("search", url)

    (key,) = (await here.admin.call("GET", f"{PATH}/keys"))["keys"]
    assert key["grants"] == {"files": ["read"]}


async def test_each_change_leaves_a_row_of_the_audit(admin: AdminGateway) -> None:
    await admin.call("POST", f"{PATH}/instances", HTTP, status=201)
    made = await admin.call("POST", f"{PATH}/keys", {"name": "agent"}, status=201)
    await admin.call("PATCH", f"{PATH}/keys/{made['id']}", {"grants": {"one": ["*"]}})

    rows = await admin.core.stores.database.fetch("SELECT action FROM audit ORDER BY id")

    actions = [row["action"] for row in rows if row["action"].startswith("mcp.")]
    assert actions == ["mcp.instance.create", "mcp.key.create", "mcp.key.update"]


async def test_the_tools_of_an_instance_are_shown_or_why_there_are_none(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address)
    await here.add("gone", "http://127.0.0.1:9/mcp")

    shown = await here.admin.call("GET", f"{PATH}/instances/one/tools")
    missing = await here.admin.call("GET", f"{PATH}/instances/gone/tools")

    assert "add" in {each["name"] for each in shown["tools"]}
    assert shown["error"] is None
    assert missing["tools"] == []
    assert "could not be reached" in missing["error"]
    await here.admin.call("GET", f"{PATH}/instances/nobody/tools", status=404)
