"""A gateway with the plugin of MCP, in process."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import gateway_extension_mcp
from admin_gateway import AdminGateway, opened

PATH = "/api/mcp-gateway"
NAME = "extension-mcp"
ON = {"GATEWAY_MCP_ENABLED": "true"}
PROGRAM = Path(__file__).with_name("mcp_program.py")


class McpGateway:
    """Its endpoint and its operator's routes."""

    def __init__(self, admin: AdminGateway) -> None:
        self.admin = admin

    async def add(self, slug: str, url: str = "", status: int = 201, **more: Any) -> Any:
        """Add an instance; one at an address unless ``more`` says otherwise."""
        body = {"slug": slug, "kind": "http", **({"url": url} if url else {}), **more}
        return await self.admin.call("POST", f"{PATH}/instances", body, status=status)

    async def add_program(self, slug: str, *arguments: str, **more: Any) -> Any:
        args = [str(PROGRAM), *arguments]
        return await self.add(slug, kind="python", command=sys.executable, args=args, **more)

    async def key(self, **grants: list[str]) -> str:
        """A new key's text; ``_`` in a slug stands for a hyphen."""
        named = {slug.replace("_", "-"): tools for slug, tools in grants.items()}
        body = {"name": "agent", "grants": named}
        made = await self.admin.call("POST", f"{PATH}/keys", body, status=201)
        text: str = made["key"]
        return text

    async def settings(self, **settings: Any) -> None:
        await self.admin.call("PATCH", f"/api/plugins/{NAME}/settings", settings)

    async def ask(self, method: str, key: str = "", status: int = 200, **params: Any) -> Any:
        """A request of a client's; gives the result or the error."""
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        headers = {"authorization": f"Bearer {key}"} if key else {}
        answer = await self.admin.call("POST", PATH, body, status=status, headers=headers)
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
        return answer.get("result", answer.get("error"))

    async def tools(self, key: str = "") -> set[str]:
        return {each["name"] for each in (await self.ask("tools/list", key))["tools"]}

    async def use(self, tool: str, key: str = "", **arguments: Any) -> Any:
        """A tool's text, or the whole answer where it is no single text."""
        result = await self.ask("tools/call", key, name=tool, arguments=arguments)
        content = result.get("content")
        return result if result.get("isError") or not content else content[0]["text"]

    async def row(self, slug: str) -> dict[str, Any]:
        shown: dict[str, Any] = await self.admin.call("GET", f"{PATH}/instances/{slug}")
        row: dict[str, Any] = shown["instance"]
        return row

    async def ledger(self) -> list[Any]:
        """Usage rows, the newest first."""
        await self.admin.core.ledger.flush()
        return list((await self.admin.core.stores.usage.page(limit=100)).rows)


@asynccontextmanager
async def mcp_gateway(folder: Path, variables: Mapping[str, str] = {}) -> AsyncIterator[McpGateway]:
    more = {NAME: gateway_extension_mcp}
    async with opened(folder, {**ON, **variables}, more=more) as admin:
        yield McpGateway(admin)
