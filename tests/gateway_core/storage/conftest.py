from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path

import pytest
from example_table import open_database

from gateway_core.storage.database import Database
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import SqliteDatabase, open_sqlite
from gateway_core.storage.vault import Vault


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> Clock:
    return Clock(1_800_000_000.0)


@pytest.fixture
def new_id() -> Callable[[], str]:
    """Ids that count: ``id-1``, ``id-2`` and so on."""
    numbers = count(1)
    return lambda: f"id-{next(numbers)}"


@pytest.fixture
def vault() -> Vault:
    return Vault(bytes(range(32)))


@pytest.fixture
async def database(clock: Clock) -> AsyncIterator[Database]:
    empty = await open_sqlite(":memory:")
    await migrate(empty, packaged_migrations("sqlite"), clock)
    yield empty
    await empty.close()


@pytest.fixture(params=["file", "memory"])
async def things(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = await open_database(
        tmp_path / "data.sqlite" if request.param == "file" else ":memory:"
    )
    yield database
    await database.close()


@pytest.fixture
async def filed(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = await open_database(tmp_path / "data.sqlite")
    yield database
    await database.close()
