from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from office import Office, opened


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def variables() -> dict[str, str]:
    """Process variables of the gateway; a test may have its own."""
    return {}


@pytest.fixture
async def office(tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[Office]:
    async with opened(tmp_path, variables) as here:
        yield here
