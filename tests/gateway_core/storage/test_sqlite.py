import asyncio
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.errors import (
    StorageFull,
    StorageUnavailable,
    TransactionMisuse,
    UniqueViolation,
)
from gateway_core.storage.sqlite import SqliteDatabase, open_sqlite

pytestmark = pytest.mark.anyio
INSERT = "INSERT INTO things (id, name) VALUES (:id, :name)"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


async def opened(path: Path | str) -> SqliteDatabase:
    database = await open_sqlite(path)
    await database.execute("CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT)")
    return database


@pytest.fixture(params=["file", "memory"])
async def things(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = await opened(tmp_path / "data.sqlite" if request.param == "file" else ":memory:")
    yield database
    await database.close()


@pytest.fixture
async def filed(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = await opened(tmp_path / "data.sqlite")
    yield database
    await database.close()


async def ids(database: SqliteDatabase) -> list[int]:
    return [row["id"] for row in await database.fetch("SELECT id FROM things ORDER BY id")]


async def test_rows_come_back_by_column_name(things: SqliteDatabase) -> None:
    changed = await things.execute(INSERT, id=1, name="one")

    assert changed == 1
    assert await things.fetch("SELECT * FROM things") == [{"id": 1, "name": "one"}]
    assert await things.fetch("SELECT * FROM things WHERE id = :id", id=2) == []


async def test_execute_counts_the_rows_it_changed(things: SqliteDatabase) -> None:
    await things.execute_many(INSERT, [{"id": n, "name": "x"} for n in range(5)])

    assert await things.execute("UPDATE things SET name = 'y' WHERE id > 2") == 2
    assert await things.execute("CREATE TABLE other (id BIGINT)") == 0


async def test_a_missing_value_is_an_error(things: SqliteDatabase) -> None:
    with pytest.raises(KeyError):
        await things.execute(INSERT, id=1)


async def test_a_repeated_key_is_a_unique_violation(things: SqliteDatabase) -> None:
    await things.execute(INSERT, id=1, name="one")

    with pytest.raises(UniqueViolation):
        await things.execute(INSERT, id=1, name="two")


async def test_many_rows_are_written_together_or_not_at_all(things: SqliteDatabase) -> None:
    rows = [{"id": n, "name": ""} for n in (1, 2, 3, 2)]

    with pytest.raises(UniqueViolation):
        await things.execute_many(INSERT, rows)

    assert await ids(things) == []


async def test_many_rows_in_a_transaction_are_undone_alone(things: SqliteDatabase) -> None:
    async with things.transaction() as transaction:
        await transaction.execute(INSERT, id=9, name="")
        with pytest.raises(UniqueViolation):
            await transaction.execute_many(INSERT, [{"id": n, "name": ""} for n in (1, 9)])

    assert await ids(things) == [9]


async def test_a_transaction_commits_when_its_block_ends(things: SqliteDatabase) -> None:
    async with things.transaction() as transaction:
        await transaction.execute(INSERT, id=1, name="")
        assert await transaction.fetch("SELECT count(*) AS n FROM things") == [{"n": 1}]

    assert await ids(things) == [1]


async def test_a_transaction_that_raises_leaves_nothing(things: SqliteDatabase) -> None:
    async def fail() -> None:
        async with things.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await ids(things) == []
    assert await things.execute(INSERT, id=2, name="") == 1


async def test_a_write_can_return_rows_in_a_transaction(things: SqliteDatabase) -> None:
    async with things.transaction() as transaction:
        rows = await transaction.fetch(INSERT + " RETURNING id", id=7, name="")

    assert rows == [{"id": 7}]


async def test_a_write_outside_a_transaction_cannot_hide_in_a_fetch(filed: SqliteDatabase) -> None:
    with pytest.raises(TransactionMisuse):
        await filed.fetch(INSERT + " RETURNING id", id=7, name="")

    assert await ids(filed) == []


async def test_transactions_do_not_nest(things: SqliteDatabase) -> None:
    async with things.transaction():
        for misuse in (
            things.transaction().__aenter__(),
            things.execute(INSERT, id=1, name=""),
            things.execute_many(INSERT, []),
            things.purge("DELETE FROM things"),
            things.fetch("SELECT 1"),
            things.close(),
        ):
            with pytest.raises(TransactionMisuse):
                await misuse

    assert await ids(things) == []


async def test_a_transaction_is_of_no_use_after_its_end(things: SqliteDatabase) -> None:
    async with things.transaction() as transaction:
        pass

    with pytest.raises(TransactionMisuse):
        await transaction.execute(INSERT, id=1, name="")


async def test_parallel_writers_take_turns(things: SqliteDatabase) -> None:
    await things.execute(INSERT, id=0, name="0")

    async def add_one() -> None:
        async with things.transaction() as transaction:
            rows = await transaction.fetch("SELECT name FROM things WHERE id = 0")
            await asyncio.sleep(0)
            await transaction.execute(
                "UPDATE things SET name = :n", n=str(int(rows[0]["name"]) + 1)
            )

    await asyncio.gather(*(add_one() for _ in range(50)))

    assert await things.fetch("SELECT name FROM things") == [{"name": "50"}]


async def test_a_read_during_a_write_sees_the_last_commit(filed: SqliteDatabase) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with filed.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            begun.set()
            await go_on.wait()

    writing = asyncio.create_task(write())
    await begun.wait()
    during = await filed.fetch("SELECT count(*) AS n FROM things")
    go_on.set()
    await writing
    after = await filed.fetch("SELECT count(*) AS n FROM things")

    assert (during, after) == ([{"n": 0}], [{"n": 1}])


async def test_a_slow_read_does_not_hold_up_a_write(filed: SqliteDatabase) -> None:
    reading = asyncio.create_task(filed.fetch(ENDLESS))
    await asyncio.sleep(0.02)

    async with asyncio.timeout(5):
        await filed.execute(INSERT, id=1, name="")

    assert not reading.done()
    reading.cancel()


async def test_an_abandoned_read_is_stopped(filed: SqliteDatabase) -> None:
    reading = asyncio.create_task(filed.fetch(ENDLESS))
    await asyncio.sleep(0.02)

    reading.cancel()

    async with asyncio.timeout(5):
        assert await filed.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_a_waiting_writer_that_gives_up_changes_nothing(things: SqliteDatabase) -> None:
    async with things.transaction() as transaction:
        waiting = asyncio.create_task(things.execute(INSERT, id=1, name=""))
        await asyncio.sleep(0)
        waiting.cancel()
        await transaction.execute(INSERT, id=2, name="")

    assert await ids(things) == [2]


@pytest.mark.parametrize("patience", range(40))
async def test_a_cancelled_transaction_is_whole_or_absent(
    things: SqliteDatabase, patience: int
) -> None:
    async def write() -> None:
        async with things.transaction() as transaction:
            for number in range(5):
                await transaction.execute(INSERT, id=number, name="")

    writing = asyncio.create_task(write())
    for _ in range(patience):
        await asyncio.sleep(0)
        await asyncio.sleep(0.0001 if patience % 2 else 0)
    writing.cancel()
    await asyncio.wait([writing])

    assert await ids(things) in ([], [0, 1, 2, 3, 4])
    assert await things.execute(INSERT, id=99, name="") == 1


async def test_everything_is_refused_after_closing(things: SqliteDatabase) -> None:
    await things.close()

    for late in (things.fetch("SELECT 1"), things.execute(INSERT, id=1, name="")):
        with pytest.raises(StorageUnavailable):
            await late
    with pytest.raises(StorageUnavailable):
        async with things.transaction():
            pass


async def test_closing_twice_does_nothing(things: SqliteDatabase) -> None:
    await asyncio.gather(things.close(), things.close())


async def test_closing_undoes_an_open_transaction(tmp_path: Path) -> None:
    database = await opened(tmp_path / "data.sqlite")
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
    database = await opened(tmp_path / "data.sqlite")
    await database.execute(INSERT, id=1, name="")
    await database.fetch("SELECT * FROM things")

    await database.close()

    assert os.listdir(tmp_path) == ["data.sqlite"]


async def test_opening_and_closing_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    await (await opened(path)).close()
    process = psutil.Process()
    threads, descriptors = threading.active_count(), process.num_fds()

    for _ in range(200):
        database = await open_sqlite(path)
        await database.fetch("SELECT 1")
        await database.close()

    assert (threading.active_count(), process.num_fds()) == (threads, descriptors)


async def test_a_cancelled_opening_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    await (await opened(path)).close()
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
    database = await opened(path)
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


async def test_a_full_disk_refuses_writes_and_still_reads(filed: SqliteDatabase) -> None:
    await filed.execute(INSERT, id=1, name="")
    await filed.execute("PRAGMA max_page_count = 4")

    with pytest.raises(StorageFull) as caught:
        await filed.execute(INSERT, id=2, name="x" * 100_000)

    assert caught.value.status == 507
    assert await ids(filed) == [1]
    await filed.execute("PRAGMA max_page_count = 1000")
    assert await filed.execute(INSERT, id=3, name="x" * 100_000) == 1


async def test_a_transaction_on_a_full_disk_is_undone(filed: SqliteDatabase) -> None:
    async def write() -> None:
        async with filed.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            await transaction.execute(INSERT, id=2, name="x" * 100_000)

    await filed.execute("PRAGMA max_page_count = 4")

    with pytest.raises(StorageFull):
        await write()

    assert await ids(filed) == []


async def test_a_purge_does_not_wait_for_a_slow_read(filed: SqliteDatabase) -> None:
    await filed.execute_many(INSERT, [{"id": n, "name": ""} for n in range(10)])
    reading = asyncio.create_task(filed.fetch(ENDLESS))
    await asyncio.sleep(0.02)

    async with asyncio.timeout(2):
        assert await filed.purge("DELETE FROM things WHERE id < :id", id=4) == 4

    reading.cancel()
    assert await ids(filed) == [4, 5, 6, 7, 8, 9]


async def test_every_commit_is_synced(filed: SqliteDatabase) -> None:
    async with filed.transaction() as transaction:
        settings = [
            await transaction.fetch(f"PRAGMA {name}")
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]

    values = [next(iter(rows[0].values())) for rows in settings]
    assert values == ["wal", 2, 1, 5000]
