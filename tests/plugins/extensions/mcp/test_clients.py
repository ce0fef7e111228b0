"""The official client, over sockets: both transports in front, both behind."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_gateway import NAME, ON, PATH
from mcp_servers import served, tool_server
from served_gateway import Served, serve_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One with an instance by each transport."""
    variables = {**ON, "GATEWAY_TRUST_PLUGINS": NAME}
    folder: Path = tmp_path_factory.mktemp("clients")
    with (
        served(tool_server().streamable_http_app()) as new,
        served(tool_server().sse_app()) as old,
        serve_gateway(folder, {}, variables=variables) as here,
    ):
        call(here, "POST", "/instances", {"slug": "new", "kind": "http", "url": f"{new}/mcp"})
        call(here, "POST", "/instances", {"slug": "old", "kind": "sse", "url": f"{old}/sse"})
        yield here


def call(here: Served, method: str, path: str, body: Any) -> Any:
    token = {"x-gateway-cli-token": here.gateway.core.identity.cli_token}
    address = f"{here.url}{PATH}{path}"
    answer = httpx2.request(method, address, json=body, headers=token, trust_env=False, timeout=30)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


@pytest.fixture(scope="module")
def key(gateway: Served) -> str:
    body = {"name": "agent", "grants": {"new": ["add", "fail"], "old": ["greet"]}}
    text: str = call(gateway, "POST", "/keys", body)["key"]
    return text


async def walk(client: Client) -> None:
    tools = await client.list_tools()
    assert {each.name for each in tools.tools} == {"new__add", "new__fail", "old__greet"}
    added = await client.call_tool("new__add", {"a": 20, "b": 22})
    assert added.structured_content == {"result": 42}
    greeted = await client.call_tool("old__greet", {"name": "Ada"})
    assert greeted.content[0].text == "Hello Ada"  # type: ignore[union-attr]
    failed = await client.call_tool("new__fail", {})
    assert failed.is_error
    with pytest.raises(MCPError) as unknown:
        await client.call_tool("new__greet", {"name": "Ada"})
    assert unknown.value.code == -32601


async def test_over_streamable_http(gateway: Served, key: str) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(f"{gateway.url}{PATH}", http_client=http)) as client,
    ):
        await walk(client)


async def test_over_the_older_transport(gateway: Served, key: str) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with Client(sse_client(f"{gateway.url}{PATH}/sse", headers=headers)) as client:
        await walk(client)


async def test_a_stream_is_its_own_keys_only(gateway: Served, key: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    mine, other = {"authorization": f"Bearer {key}"}, {}
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as http:
        assert (await http.post(f"{PATH}/message", json=body)).status_code == 400
        missing = await http.post(f"{PATH}/message?sessionId=nobody", json=body)
        assert missing.status_code == 404
        async with http.stream("GET", f"{PATH}/sse", headers=mine) as stream:
            lines = stream.aiter_lines()
            address = ""
            async for line in lines:
                if line.startswith("data: "):
                    address = line.removeprefix("data: ")
                    break
            assert (await http.post(address, json=body, headers=other)).status_code == 404
            assert (await http.post(address, json=body, headers=mine)).status_code == 202
            async with asyncio.timeout(30):
                async for line in lines:
                    if line.startswith("data: "):
                        assert '"result":{}' in line
                        break


async def test_many_calls_at_once_share_one_connection(gateway: Served, key: str) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(f"{gateway.url}{PATH}", http_client=http)) as client,
    ):
        calls = (client.call_tool("new__add", {"a": each, "b": 1}) for each in range(16))
        found = await asyncio.gather(*calls)

    assert [each.structured_content for each in found] == [{"result": n + 1} for n in range(16)]
    assert sum(row.model_sent == "new__add" for row in gateway.rows()) >= 16
