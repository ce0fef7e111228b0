import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from example_table import CREATE, open_database
from migrated_databases import (  # noqa: F401  # fixtures
    MakeDatabase,
    clock,
    database,
    migrated,
    new_id,
    vault,
)
from postgres_servers import VERSIONS

from gateway_core.storage.database import Database
from gateway_core.storage.sqlite.engine import SqliteDatabase
from gateway_postgres.engine import open_postgres


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["file", "memory", *VERSIONS])
async def things(
    request: pytest.FixtureRequest, tmp_path: Path, postgres: MakeDatabase
) -> AsyncIterator[Database]:
    opened: Database
    if request.param in VERSIONS:
        opened = await open_postgres(await asyncio.to_thread(postgres, request.param, "things"))
        for statement in ("DROP TABLE IF EXISTS things, other", CREATE):
            await opened.execute(statement)
    else:
        path = tmp_path / "data.sqlite"
        opened = await open_database(path if request.param == "file" else ":memory:")
    yield opened
    await opened.close()


@pytest.fixture
async def filed(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = await open_database(tmp_path / "data.sqlite")
    yield opened
    await opened.close()
