"""A gateway with the plugin, as callers of every kind use it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from admin_gateway import AdminGateway
from caller_kinds import SECRET
from mcp_gateway import McpGateway, mcp_gateway
from mcp_servers import Seen, served, tool_server


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[McpGateway]:
    async with mcp_gateway(tmp_path, {"JWT_SECRET": SECRET}) as made:
        yield made


@pytest.fixture
def admin(here: McpGateway) -> AdminGateway:
    return here.admin


@pytest.fixture(scope="module")
def seen() -> Seen:
    return Seen(tool_server().streamable_http_app())


@pytest.fixture(scope="module")
def address(seen: Seen) -> Iterator[str]:
    with served(seen) as origin:
        yield f"{origin}/mcp"
