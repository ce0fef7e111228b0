"""Fixtures: an empty database that is up to date, of each engine, and a clock for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count

import pytest
from postgres_servers import VERSIONS, empty_tables

from gateway_core.storage.database import Database
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.vault import Vault
from gateway_postgres.engine import open_postgres


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock(1_800_000_000.0)


MakeDatabase = Callable[[str, str], str]


@pytest.fixture(scope="session")
def migrated(postgres: MakeDatabase) -> Callable[[str], str]:
    """Gives the URL of a PostgreSQL database that is up to date, always the same one."""
    made = dict[str, str]()

    async def bring_up(url: str) -> None:
        database = await open_postgres(url)
        await migrate(database, packaged_migrations("postgres"), lambda: 1_800_000_000.0)
        await database.close()

    def give(version: str) -> str:
        if version not in made:
            made[version] = postgres(version, "stores")
            asyncio.run(bring_up(made[version]))
        return made[version]

    return give


@pytest.fixture(params=["sqlite", *VERSIONS])
async def database(
    request: pytest.FixtureRequest, clock: Clock, migrated: Callable[[str], str]
) -> AsyncIterator[Database]:
    """An empty database that is up to date, of each engine."""
    empty: Database
    if request.param == "sqlite":
        empty = await open_sqlite(":memory:")
        await migrate(empty, packaged_migrations("sqlite"), clock)
    else:
        url = await asyncio.to_thread(migrated, request.param)
        empty_tables(url, "migrations")
        empty = await open_postgres(url)
    yield empty
    await empty.close()


@pytest.fixture
def new_id() -> Callable[[], str]:
    """Ids that count: ``id-1``, ``id-2`` and so on."""
    numbers = count(1)
    return lambda: f"id-{next(numbers)}"


@pytest.fixture
def vault() -> Vault:
    return Vault(bytes(range(32)))
