from collections.abc import AsyncIterator
from pathlib import Path

import front_door
import pytest
from front_door import House
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


@pytest.fixture
async def house(tmp_path: Path, variables: dict[str, str]) -> AsyncIterator[House]:
    async with front_door.opened(tmp_path, variables) as here:
        yield here
