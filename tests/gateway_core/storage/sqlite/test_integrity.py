"""Damage is found before a database is opened; in large tables of a large one, soon after."""

import asyncio
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.sqlite import integrity
from gateway_core.storage.sqlite.engine import SqliteDatabase, open_sqlite

pytestmark = pytest.mark.anyio
ROWS = [{"id": number, "text": "x" * 200} for number in range(500)]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as a large one."""
    monkeypatch.setattr(integrity, "SMALL", 0)


@pytest.fixture
def tmp_path_of_all() -> Iterator[Path]:
    """A folder that every user may look into, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def filled(path: Path) -> SqliteDatabase:
    database = await open_sqlite(path)
    for table in ("usage", "keys"):
        await database.execute(f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, text TEXT)")
        await database.execute_many(f"INSERT INTO {table} VALUES (:id, :text)", ROWS)
    return database


async def closed(path: Path) -> None:
    await (await filled(path)).close()


async def left_open(path: Path) -> None:
    """As a process leaves a database that is killed: one change is in the log only."""
    first = path.with_name("first.sqlite")
    database = await filled(first)
    await database.execute("CREATE TABLE notes (text TEXT)")
    await database.execute("PRAGMA wal_checkpoint")
    await database.execute("INSERT INTO notes VALUES ('last')")
    for end in ("", "-wal"):
        shutil.copy(f"{first}{end}", f"{path}{end}")
    await database.close()


def spoil(path: Path, table: str) -> bytes:
    """Overwrite a page of a table in the file."""
    connection = apsw.Connection(f"file:{path}?immutable=1", flags=apsw.SQLITE_OPEN_URI | 1)
    query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    page: int = connection.execute(query, (table,)).get
    connection.close()
    content = bytearray(path.read_bytes())
    content[4096 * (page - 1) : 4096 * (page - 1) + 200] = b"\xff" * 200
    path.write_bytes(content)
    return bytes(content)


async def logged(caplog: pytest.LogCaptureFixture, words: str) -> None:
    async with asyncio.timeout(10):
        while words not in caplog.text:
            await asyncio.sleep(0.005)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("leave", [closed, left_open], ids=["closed", "left open"])
async def test_damage_in_a_table_that_does_not_grow_stops_the_start_of_a_large_one(
    tmp_path: Path, leave: Callable[[Path], asyncio.Future[None]]
) -> None:
    path = tmp_path / "data.sqlite"
    await leave(path)
    content = spoil(path, "keys")

    with pytest.raises(DatabaseUnusable, match="is damaged"):
        await open_sqlite(path)

    assert path.read_bytes() == content


async def test_damage_in_a_table_that_grows_stops_the_start_of_a_small_one(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    await closed(path)
    spoil(path, "usage")

    with pytest.raises(DatabaseUnusable, match="is damaged"):
        await open_sqlite(path)


@pytest.mark.usefixtures("large")
async def test_damage_in_a_large_table_is_told_after_an_unclean_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "data.sqlite"
    await left_open(path)
    spoil(path, "usage")

    database = await open_sqlite(path)
    await logged(caplog, "is damaged in its large tables")

    assert await database.fetch("SELECT count(*) AS n FROM keys") == [{"n": 500}]
    await database.close()


@pytest.mark.usefixtures("large")
async def test_large_tables_in_order_are_told_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await left_open(tmp_path / "data.sqlite")

    database = await open_sqlite(tmp_path / "data.sqlite")
    await logged(caplog, "are in order")

    await database.close()


@pytest.mark.usefixtures("large")
async def test_after_a_clean_stop_large_tables_are_not_looked_through(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await closed(tmp_path / "data.sqlite")

    await (await open_sqlite(tmp_path / "data.sqlite")).close()

    assert "looked through" not in caplog.text


@pytest.mark.usefixtures("large")
async def test_closing_does_not_wait_for_the_look(tmp_path: Path) -> None:
    for patience in range(8):
        folder = tmp_path / str(patience)
        folder.mkdir()
        await left_open(folder / "data.sqlite")
        database = await open_sqlite(folder / "data.sqlite")
        for _ in range(patience):
            await asyncio.sleep(0)

        async with asyncio.timeout(5):
            await database.close()


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="takes another user's part"
)
def test_a_file_of_another_user_is_not_called_damaged(tmp_path_of_all: Path) -> None:
    path = tmp_path_of_all / "data.sqlite"
    apsw.Connection(str(path)).execute("CREATE TABLE notes (text TEXT)")
    path.chmod(0o600)

    os.seteuid(65534)
    try:
        with pytest.raises(DatabaseUnusable, match=r"cannot be opened: .*See that .* may read and"):
            integrity.inspect(path, expected=True)
    finally:
        os.seteuid(0)


async def test_a_file_that_another_program_keeps_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "BUSY_MS", 1)
    path = tmp_path / "data.sqlite"
    keeper = apsw.Connection(str(path))
    keeper.execute("CREATE TABLE notes (text TEXT); BEGIN EXCLUSIVE")

    with pytest.raises(DatabaseUnusable, match=r"cannot be opened: .*locked.* no other program"):
        await open_sqlite(path, expected=True)

    keeper.close()
