from collections.abc import AsyncIterator
from pathlib import Path

import login_gateway
import pytest
from admin_gateway import AdminGateway, opened
from login_gateway import LoginGateway


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def variables() -> dict[str, str]:
    """Process variables of the gateway; a test may have its own."""
    return {}


@pytest.fixture
async def admin(tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, variables) as here:
        yield here


@pytest.fixture
async def server(tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[LoginGateway]:
    async with login_gateway.opened(tmp_path, variables) as here:
        yield here
