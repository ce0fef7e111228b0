"""SQLite as a file: how it is closed, what is leaked, and a file that is damaged or gone."""

import asyncio
import os
import threading
from pathlib import Path

import psutil
import pytest
from example_table import INSERT, ids, open_database

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.database import Database
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.sqlite.engine import SqliteDatabase, open_sqlite

pytestmark = pytest.mark.anyio


async def test_everything_is_refused_after_closing(things: Database) -> None:
    await things.close()

    for late in (things.fetch("SELECT 1"), things.execute(INSERT, id=1, name="")):
        with pytest.raises(StorageUnavailable):
            await late
    with pytest.raises(StorageUnavailable):
        async with things.transaction():
            pass


async def test_closing_twice_does_nothing(things: Database) -> None:
    await asyncio.gather(things.close(), things.close())


async def test_closing_undoes_an_open_transaction(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "data.sqlite")
    begun = asyncio.Event()

    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            begun.set()
            await asyncio.Event().wait()

    writing = asyncio.create_task(write())
    await begun.wait()
    await database.close()
    writing.cancel()
    await asyncio.wait([writing])

    again = await open_sqlite(tmp_path / "data.sqlite")
    assert await ids(again) == []
    await again.close()


async def test_a_clean_close_leaves_one_file(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "data.sqlite")
    await database.execute(INSERT, id=1, name="")
    await database.fetch("SELECT * FROM things")

    await database.close()

    assert os.listdir(tmp_path) == ["data.sqlite"]


async def test_opening_and_closing_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    await (await open_database(path)).close()
    process = psutil.Process()
    threads, descriptors = threading.active_count(), process.num_fds()

    for _ in range(200):
        database = await open_sqlite(path)
        await database.fetch("SELECT 1")
        await database.close()

    assert (threading.active_count(), process.num_fds()) == (threads, descriptors)


async def test_a_cancelled_opening_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    await (await open_database(path)).close()
    before = set(threading.enumerate())

    for patience in range(20):
        opening = asyncio.create_task(open_sqlite(path))
        for _ in range(patience):
            await asyncio.sleep(0.0002)
        opening.cancel()
        await asyncio.wait([opening])
        if not opening.cancelled():
            await opening.result().close()

    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"\0" * 5000], ids=["text", "zeros"]
)
async def test_an_unreadable_database_stops_the_start_and_is_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "data.sqlite"
    path.write_bytes(content)

    with pytest.raises(DatabaseUnusable, match=r"is damaged .* left as it is"):
        await open_sqlite(path)

    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["data.sqlite"]


async def test_a_database_with_a_damaged_page_stops_the_start(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    database = await open_database(path)
    await database.execute_many(INSERT, [{"id": n, "name": "x" * 200} for n in range(500)])
    await database.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 3 + 200] = b"\xff" * 200
    path.write_bytes(content)

    with pytest.raises(DatabaseUnusable, match="is damaged"):
        await open_sqlite(path)

    assert path.read_bytes() == content


@pytest.mark.parametrize("state", ["missing", "no bytes", "no tables"])
async def test_an_expected_database_that_is_gone_stops_the_start(
    tmp_path: Path, state: str
) -> None:
    path = tmp_path / "data.sqlite"
    if state == "no bytes":
        path.touch()
    if state == "no tables":
        await (await open_sqlite(path)).close()
    before = path.read_bytes() if path.exists() else None

    with pytest.raises(DatabaseUnusable, match="is missing or empty"):
        await open_sqlite(path, expected=True)

    assert (path.read_bytes() if path.exists() else None) == before


async def test_every_commit_is_synced(filed: SqliteDatabase) -> None:
    async with filed.transaction() as transaction:
        settings = [
            await transaction.fetch(f"PRAGMA {name}")
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]

    values = [next(iter(rows[0].values())) for rows in settings]
    assert values == ["wal", 2, 1, 5000]
