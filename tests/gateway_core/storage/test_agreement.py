"""Processes on one data directory: what becomes of a change whose process was killed."""

import fcntl
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from postgres_servers import VERSIONS, free_port, make_database

from gateway_core.config.data_dir import DataDir
from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.agreement import CHANGE
from gateway_core.storage.database import Database
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores import Stores, open_stores
from gateway_core.storage.stores.settings import SettingsStore

pytestmark = pytest.mark.anyio

AT = "2026-01-02T03:04:05.678Z"


class Directory:
    """A data directory, and processes on it: their stores."""

    def __init__(self, path: Path, stack: AsyncExitStack) -> None:
        self.data_dir = DataDir(path)
        self._stack = stack

    async def join(self) -> Stores:
        stores = await open_stores(self.data_dir, shares_data=True)
        self._stack.push_async_callback(stores.close)
        return stores


@contextmanager
def killed_change(stores: Stores) -> Iterator[None]:
    """A change that ends with its process when the block does, and says nothing of it."""
    agreement = stores.database.agreement
    assert agreement is not None
    file = os.open(agreement.folder / CHANGE, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        served = agreement.served()
        assert served is not None
        agreement.say(replace(served, change=AT))
        yield
    finally:
        os.close(file)


async def settle(database: Database, stores: Stores, **changes: Any) -> None:
    """Write the settings of an engine as a change does."""
    await SettingsStore(database, stores.vault).patch(changes)


@pytest.fixture
async def directory(tmp_path: Path) -> AsyncIterator[Directory]:
    async with AsyncExitStack() as stack:
        yield Directory(tmp_path, stack)


@pytest.fixture
def url(postgres: Callable[[str, str], str]) -> str:
    return f"{make_database(postgres(VERSIONS[0], 'things'), 'agreed')}?sslmode=disable"


def postgres_at(url: str, at: str = AT) -> dict[str, Any]:
    return {"databaseEngine": "postgres", "databaseCutoverAt": at, "postgresUrl": url}


async def test_a_change_that_was_done_is_followed_though_nobody_says_so(
    directory: Directory, url: str
) -> None:
    one, other = await directory.join(), await directory.join()
    with killed_change(one):
        await settle(one.database.current, one, **postgres_at(url))
        with pytest.raises(StorageUnavailable, match="database cutover in progress"):
            await other.kv.put("aliases", {"a": "b"})
        read = await other.kv.get("aliases", "a")
        meanwhile = other.database.engine

    await other.kv.put("aliases", {"a": "b"})
    later = await directory.join()

    assert (read, meanwhile) == (None, "sqlite")
    assert other.database.engine == later.database.engine == "postgres"
    assert await later.kv.get("aliases", "a") == "b"
    assert await one.kv.get("aliases", "a") == "b"


@pytest.mark.parametrize("settings", [{}, postgres_at("postgresql://h/d", "2025-01-01T00:00:00Z")])
async def test_sqlite_stays_if_the_change_was_not_done(
    directory: Directory, settings: dict[str, Any]
) -> None:
    """Settings of another time are those of a gateway that serves SQLite as a fallback."""
    one, other = await directory.join(), await directory.join()
    with killed_change(one):
        await settle(one.database.current, one, **settings)

    await other.kv.put("aliases", {"a": "b"})
    later = await directory.join()

    assert one.database.engine == other.database.engine == later.database.engine == "sqlite"
    assert await one.kv.get("aliases", "a") == await later.kv.get("aliases", "a") == "b"
    assert later.database.selection.is_fallback == bool(settings)


async def test_nothing_is_served_in_the_place_of_a_database_that_is_away(
    directory: Directory,
) -> None:
    one, other = await directory.join(), await directory.join()
    with killed_change(one):
        away = f"postgresql://u@127.0.0.1:{free_port()}/d?sslmode=disable"
        await settle(one.database.current, one, **postgres_at(away))

    for work in (other.kv.put("aliases", {"a": "b"}), other.kv.all("aliases")):
        with pytest.raises(StorageUnavailable):
            await work
    with pytest.raises(DatabaseUnusable):  # A worker that replaces one that died.
        await directory.join()
    assert await other.database.current.fetch("SELECT * FROM kv") == []


async def test_a_way_back_that_was_done_is_followed(directory: Directory, url: str) -> None:
    first = await open_stores(directory.data_dir)
    await settle(first.database.current, first, **postgres_at(url))
    await first.close()
    directory.data_dir.acquire()  # As a start does: what was served before does not count.
    directory.data_dir.close()
    one, other = await directory.join(), await directory.join()
    engines = one.database.engine, other.database.engine
    with killed_change(one):
        live = await open_sqlite(directory.data_dir.database)
        await settle(live, one, databaseEngine="sqlite")
        await live.close()

    await other.kv.put("aliases", {"a": "b"})

    assert engines == ("postgres", "postgres")
    assert await one.kv.get("aliases", "a") == "b"
    assert one.database.engine == other.database.engine == "sqlite"
