"""A whole gateway with two vendors behind it, as its dashboard calls it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import SECRET


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def variables() -> dict[str, str]:
    """Process variables of the gateway; a test may have its own."""
    return {"JWT_SECRET": SECRET}


@pytest.fixture
async def admin(tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, variables) as here:
        yield here
