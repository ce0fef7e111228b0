"""The endpoint that MCP clients use: tools of several servers, keys, rows of the ledger."""

import json

import pytest
from caller_kinds import with_key, with_session, without_credentials
from mcp_gateway import PATH, McpGateway
from mcp_servers import TOKEN, Seen

pytestmark = pytest.mark.anyio
TOOLS = {"add", "greet", "fail", "leak", "wait", "hold", "long"}


async def test_tools_of_all_instances_have_their_slug_before_them(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address)
    await here.add("two", address)

    assert await here.tools() == {f"{slug}__{tool}" for slug in ("one", "two") for tool in TOOLS}
    assert await here.use("one__add", a=2, b=3) == "5"
    assert await here.use("two__greet", name="Ada") == "Hello Ada"
    assert (await here.row("one"))["status"] == "open"


async def test_a_tool_is_described_as_its_server_describes_it(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address)

    [add] = [each for each in (await here.ask("tools/list"))["tools"] if each["name"] == "one__add"]

    assert add["description"] == "Add two numbers."
    assert set(add["inputSchema"]["required"]) == {"a", "b"}
    assert add["outputSchema"]["properties"]["result"]["type"] == "integer"
    result = await here.ask("tools/call", name="one__add", arguments={"a": 1, "b": 1})
    assert result["structuredContent"] == {"result": 2}


async def test_a_key_sees_and_calls_what_it_was_granted(here: McpGateway, address: str) -> None:
    await here.add("one", address)
    await here.add("two", address)
    some, every, none = (
        await here.key(one=["add"]),
        await here.key(two=["*"]),
        await here.key(),
    )

    assert await here.tools(some) == {"one__add"}
    assert await here.tools(every) == {f"two__{tool}" for tool in TOOLS}
    assert await here.tools(none) == set()
    assert await here.use("one__add", some, a=2, b=2) == "4"
    refused = [
        await here.use("one__greet", some, name="x"),
        await here.use("two__add", some, a=1, b=1),
        await here.use("one__nothing", some),
        await here.use("nothing__add", some),
        await here.use("two__nothing", every),
        await here.use("add", every),
    ]
    assert {each["code"] for each in refused} == {-32601}
    assert {each["message"].partition(":")[0] for each in refused} == {"Unknown tool"}


async def test_each_call_is_a_row_of_the_ledger(here: McpGateway, address: str) -> None:
    await here.add("one", address)
    key = await here.key(one=["*"])

    await here.use("one__add", key, a=2, b=3)
    failed = await here.use("one__fail", key)
    await here.use("one__nothing", key)

    assert failed["isError"] is True
    second, first = await here.ledger()
    assert (first.provider, first.model_sent, first.model_asked) == (
        "mcp-gateway",
        "one__add",
        "one__add",
    )
    assert (first.status, first.http_status, first.cost) == ("ok", 200, 0)
    assert first.client_format == "mcp"
    assert first.notes == ("mcp key: agent",)
    assert "mcp: the tool reports an error" in second.notes
    assert second.model_sent == "one__fail"


async def test_a_server_gets_its_own_headers_and_none_of_the_clients(
    here: McpGateway, address: str, seen: Seen
) -> None:
    await here.add("one", address, headers={"Authorization": f"Bearer {TOKEN}"})
    key = await here.key(one=["*"])
    seen.headers.clear()

    refused = await here.use("one__leak", key)

    assert refused["isError"]
    assert refused["content"][0]["text"].endswith("*** is wrong")
    assert seen.headers
    assert {each["authorization"] for each in seen.headers} == {f"Bearer {TOKEN}"}
    assert key not in str(seen.headers)
    shown = await here.row("one")
    assert shown["headerNames"] == ["Authorization"]
    assert TOKEN not in json.dumps(shown)


async def test_a_secret_that_looks_like_a_number_breaks_no_answer(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address, headers={"X-Api-Key": "1000001"})

    added = await here.ask("tools/call", name="one__add", arguments={"a": 1000000, "b": 1})

    assert added["structuredContent"] == {"result": 1000001}
    assert added["content"][0]["text"] == "***"


async def test_who_is_let_in(here: McpGateway, address: str) -> None:
    await here.add("one", address)
    key = await here.key(one=["add"])
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    bearer = {"authorization": f"Bearer {key}"}
    async with without_credentials(here.admin) as local:
        assert len((await local.call("POST", PATH, body))["result"]["tools"]) == len(TOOLS)
        foreign = await local.client.post(PATH, json=body, headers={"origin": "http://127.0.0.1:1"})
        assert foreign.status_code == 401
        wrong = {"x-api-key": "sk-12345678"}
        refused = await local.call("POST", PATH, body, status=401, headers=wrong)
        assert refused["error"] == "gateway key invalid"
        narrowed = await local.call("POST", PATH, body, headers=bearer)
        assert len(narrowed["result"]["tools"]) == 1
    async with without_credentials(here.admin, "192.0.2.1") as away:
        assert (await away.call("POST", PATH, body, status=401))["error"] == "gateway key missing"
        shown = await away.call("POST", PATH, body, headers=bearer)
        assert len(shown["result"]["tools"]) == 1
        await away.call("GET", "/v1/models", status=401, headers=bearer)
        await away.call("GET", f"{PATH}/instances", status=401, headers=bearer)
    async with with_key(here.admin) as api_key:
        refused = await api_key.call("POST", PATH, body, status=401)
        assert refused["error"] == "gateway key invalid"
    async with with_session(here.admin) as person:
        await person.call("POST", PATH, body, status=401)


async def test_a_key_that_is_paused_or_deleted_opens_nothing(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address)
    key = await here.key(one=["*"])
    [row] = (await here.admin.call("GET", f"{PATH}/keys"))["keys"]
    async with without_credentials(here.admin, "192.0.2.1") as away:
        bearer = {"authorization": f"Bearer {key}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        await away.call("POST", PATH, body, headers=bearer)
        await here.admin.call("PATCH", f"{PATH}/keys/{row['id']}", {"isActive": False})
        await away.call("POST", PATH, body, status=401, headers=bearer)
        await here.admin.call("PATCH", f"{PATH}/keys/{row['id']}", {"isActive": True})
        await away.call("POST", PATH, body, headers=bearer)
        await here.admin.call("DELETE", f"{PATH}/keys/{row['id']}")
        await away.call("POST", PATH, body, status=401, headers=bearer)


async def test_the_endpoint_takes_posts_only(here: McpGateway) -> None:
    answer = await here.admin.client.get(PATH)
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    taken = await here.admin.client.post(PATH, json=note)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert (taken.status_code, taken.content) == (202, b"")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"\xff", 400, -32700),
        (b"[" * 100_000, 400, -32700),
        (b"[]", 400, -32600),
        (b'{"id": 1}', 400, -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', 200, -32602),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a__b", '
            b'"arguments": []}}',
            200,
            -32602,
        ),
        (b" " * (4 * 1024 * 1024 + 1), 413, None),
    ],
)
async def test_what_is_no_request_has_the_error_of_its_kind(
    here: McpGateway, body: bytes, status: int, code: int | None
) -> None:
    answer = await here.admin.client.post(PATH, content=body)

    assert answer.status_code == status
    assert code is None or answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("asked", "given"), [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1", None)]
)
async def test_versions_are_agreed(here: McpGateway, asked: str, given: str | None) -> None:
    result = await here.ask("initialize", protocolVersion=asked, capabilities={})

    assert result["protocolVersion"] == (given or "2025-11-25")
    assert result["capabilities"] == {"tools": {"listChanged": False}}
