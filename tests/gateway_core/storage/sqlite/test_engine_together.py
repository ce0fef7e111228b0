"""SQLite with several at work: readers beside a writer, and those who give up."""

import asyncio

import pytest
from example_table import INSERT, ids

from gateway_core.storage.database import Database
from gateway_core.storage.sqlite.engine import SqliteDatabase

pytestmark = pytest.mark.anyio
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


async def test_parallel_writers_take_turns(things: Database) -> None:
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


async def test_a_waiting_writer_that_gives_up_changes_nothing(things: Database) -> None:
    async with things.transaction() as transaction:
        waiting = asyncio.create_task(things.execute(INSERT, id=1, name=""))
        await asyncio.sleep(0)
        waiting.cancel()
        await transaction.execute(INSERT, id=2, name="")

    assert await ids(things) == [2]


@pytest.mark.parametrize("patience", range(40))
async def test_a_cancelled_transaction_is_whole_or_absent(things: Database, patience: int) -> None:
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


async def test_a_purge_does_not_wait_for_a_slow_read(filed: SqliteDatabase) -> None:
    await filed.execute_many(INSERT, [{"id": n, "name": ""} for n in range(10)])
    reading = asyncio.create_task(filed.fetch(ENDLESS))
    await asyncio.sleep(0.02)

    async with asyncio.timeout(2):
        assert await filed.purge("DELETE FROM things WHERE id < :id", id=4) == 4

    reading.cancel()
    assert await ids(filed) == [4, 5, 6, 7, 8, 9]
