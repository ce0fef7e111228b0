"""PostgreSQL: results that are too large, lost connections, gateways beside one another."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from cut_connections import When, cutting
from example_table import CREATE, INSERT, ids
from postgres_servers import VERSIONS, own_server

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.errors import ResultTooLarge, StorageUnavailable, TransactionMisuse
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_postgres.engine import MOST_RESULT, PostgresDatabase, open_postgres
from gateway_postgres.pools import connect, options_of

pytestmark = pytest.mark.anyio

Make = Callable[[str, str], str]


@pytest.fixture(params=VERSIONS)
async def url(request: pytest.FixtureRequest, postgres: Make) -> str:
    """Of a database that has the table ``things``, without rows."""
    made = await asyncio.to_thread(postgres, request.param, "engine")
    database = await open_postgres(made)
    await database.execute("DROP TABLE IF EXISTS things")
    await database.execute(CREATE)
    await database.close()
    return made


@pytest.fixture
async def database(url: str) -> AsyncIterator[PostgresDatabase]:
    opened = await open_postgres(url)
    yield opened
    await opened.close()


async def test_a_result_that_is_too_large_is_refused_and_the_next_one_is_read(
    database: PostgresDatabase,
) -> None:
    half = MOST_RESULT // 2
    query = "SELECT repeat('x', CAST(:size AS INTEGER)) AS x FROM generate_series(1, :rows)"

    with pytest.raises(ResultTooLarge, match="32 MiB"):
        await database.fetch(query, size=half, rows=3)

    assert len(await database.fetch(query, size=half, rows=2)) == 2
    assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_a_result_that_is_too_large_undoes_its_transaction(
    database: PostgresDatabase,
) -> None:
    async def read_too_much() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            await transaction.fetch("SELECT repeat('x', 1000000) AS x FROM generate_series(1, 40)")

    with pytest.raises(ResultTooLarge):
        await read_too_much()

    assert await ids(database) == []
    assert await database.execute(INSERT, id=2, name="") == 1


async def test_values_are_stored_as_in_the_other_engine(database: PostgresDatabase) -> None:
    await database.execute(INSERT, id=True, name="a\0b")

    assert await database.fetch("SELECT * FROM things") == [{"id": 1, "name": "a\ufffdb"}]


async def test_texts_are_compared_by_their_bytes(database: PostgresDatabase) -> None:
    names = ["a", "B", "~", "ä", "2027"]
    await database.execute_many(INSERT, [{"id": n, "name": x} for n, x in enumerate(names)])

    rows = await database.fetch("SELECT name FROM things ORDER BY name")

    assert [row["name"] for row in rows] == sorted(names, key=str.encode)


async def test_a_lost_connection_is_not_noticed(database: PostgresDatabase, url: str) -> None:
    await database.execute(INSERT, id=1, name="")
    await asyncio.to_thread(_end_connections, url)

    assert await ids(database) == [1]
    await asyncio.to_thread(_end_connections, url)
    assert await database.execute(INSERT, id=2, name="") == 1
    await asyncio.to_thread(_end_connections, url)
    await database.write_all([(INSERT, [{"id": 3, "name": ""}, {"id": 4, "name": ""}])])

    assert await ids(database) == [1, 2, 3, 4]


async def test_a_transaction_whose_connection_is_lost_is_undone(
    database: PostgresDatabase, url: str
) -> None:
    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            await asyncio.to_thread(_end_connections, url)
            await transaction.execute(INSERT, id=2, name="")

    with pytest.raises(StorageUnavailable):
        await write()

    assert await ids(database) == []


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_whose_answer_is_lost_is_done_once(url: str, when: When) -> None:
    async with cutting(url) as cutter:
        database = await open_postgres(cutter.url(url))
        cutter.when = when

        await database.write_all([(INSERT, [{"id": 1, "name": ""}])])

        assert cutter.times == 1
        assert await ids(database) == [1]
        await database.close()


async def test_a_transaction_knows_that_its_commit_came_through(url: str) -> None:
    async with cutting(url) as cutter:
        database = await open_postgres(cutter.url(url))

        async def write(number: int, when: When) -> None:
            async with database.transaction() as transaction:
                await transaction.execute(INSERT, id=number, name="")
                cutter.when = when

        await write(1, "after")
        assert await ids(database) == [1]

        with pytest.raises(StorageUnavailable):
            await write(2, "before")
        assert await ids(database) == [1]
        await database.close()


async def test_transactions_of_two_gateways_take_turns(url: str) -> None:
    first, second = await open_postgres(url), await open_postgres(url)
    await first.execute(INSERT, id=1, name="0")

    async def count(database: PostgresDatabase) -> None:
        for _ in range(10):
            async with database.transaction() as transaction:
                rows = await transaction.fetch("SELECT name FROM things")
                value = str(int(rows[0]["name"]) + 1)
                await transaction.execute("UPDATE things SET name = :value", value=value)

    await asyncio.gather(count(first), count(second), count(first))

    assert await second.fetch("SELECT name FROM things") == [{"name": "30"}]
    await asyncio.gather(first.close(), second.close())


async def test_gateways_that_start_together_migrate_once(postgres: Make) -> None:
    made = await asyncio.to_thread(postgres, VERSIONS[0], "together")
    both = [await open_postgres(made), await open_postgres(made)]
    steps = packaged_migrations("postgres")

    counts = await asyncio.gather(*(migrate(each, steps, lambda: 0.0) for each in both))

    assert sum(counts) == len(steps)
    await asyncio.gather(*(each.close() for each in both))


async def test_a_cancelled_write_is_whole_or_absent(database: PostgresDatabase) -> None:
    for turn in range(1, 6):
        writing = asyncio.create_task(
            database.execute_many(INSERT, [{"id": turn * 10 + n, "name": ""} for n in range(5)])
        )
        for _ in range(turn):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait([writing])

    await database.execute(INSERT, id=1, name="")
    rows = await ids(database)
    assert all(
        rows.count(turn * 10) * 5 == len([r for r in rows if r // 10 == turn])
        for turn in range(1, 6)
    )


async def test_an_abandoned_read_is_stopped(database: PostgresDatabase) -> None:
    reading = asyncio.create_task(database.fetch("SELECT pg_sleep(60)"))
    while not await database.fetch(
        "SELECT 1 AS x FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' "
        "AND state = 'active' AND pid <> pg_backend_pid()"
    ):
        pass

    reading.cancel()
    await asyncio.wait([reading], timeout=30)

    assert reading.cancelled()
    assert await database.fetch("SELECT 1 AS x") == [{"x": 1}]


async def test_a_query_cannot_hide_a_write(database: PostgresDatabase) -> None:
    with pytest.raises(TransactionMisuse):
        await database.fetch(INSERT + " RETURNING id", id=7, name="")

    assert await ids(database) == []


async def test_a_purge_deletes(database: PostgresDatabase) -> None:
    await database.execute_many(INSERT, [{"id": n, "name": ""} for n in range(4)])

    assert await database.purge("DELETE FROM things WHERE id > :id", id=1) == 2
    assert await ids(database) == [0, 1]


async def test_nothing_is_done_after_closing(database: PostgresDatabase) -> None:
    await asyncio.gather(database.close(), database.close())

    for late in (database.fetch("SELECT 1"), database.execute(INSERT, id=1, name="")):
        with pytest.raises(StorageUnavailable):
            await late


async def test_closing_undoes_an_open_transaction(url: str) -> None:
    database = await open_postgres(url)
    begun, closed = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            begun.set()
            await closed.wait()

    writing = asyncio.create_task(write())
    await begun.wait()
    await asyncio.wait_for(database.close(), 20)
    closed.set()
    with pytest.raises(StorageUnavailable):
        await writing

    again = await open_postgres(url)
    assert await ids(again) == []
    await again.close()


async def test_a_server_that_is_away_is_awaited_by_nobody_for_long() -> None:
    with own_server() as server:
        await asyncio.to_thread(server.start)
        database = await open_postgres(server.url)
        await database.execute(CREATE)
        await database.execute(INSERT, id=1, name="")

        await asyncio.to_thread(server.stop, "fast")
        with pytest.raises(StorageUnavailable):
            await database.fetch("SELECT 1 AS x")
        with pytest.raises(StorageUnavailable):
            await database.execute(INSERT, id=2, name="")
        await asyncio.to_thread(server.start)

        assert await ids(database) == [1]
        assert await database.execute(INSERT, id=2, name="") == 1
        await database.close()


async def test_a_refused_password_is_not_named() -> None:
    with own_server(password="right") as server:
        await asyncio.to_thread(server.start)

        with pytest.raises(DatabaseUnusable) as refused:
            await open_postgres(server.url.replace(":right@", ":wrongword@"))
        await (await open_postgres(server.url)).close()

    assert "password authentication failed" in str(refused.value)
    assert "wrongword" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "nonsense://", "postgresql://h/d?no_such_option=1"])
async def test_a_url_that_makes_no_sense_is_refused(url: str) -> None:
    with pytest.raises(DatabaseUnusable):
        await open_postgres(url)


def _end_connections(url: str) -> None:
    """End every other connection to a database, as a restart of the server does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_connection_that_is_given_up_on_its_way_is_closed() -> None:
    arrived, proceed, closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    words = b"SFATAL\0C57P03\0Mnot now\0\0"

    async def server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(8)
        arrived.set()
        await proceed.wait()
        writer.write(b"E" + (len(words) + 4).to_bytes(4) + words)
        while await reader.read(64):
            pass
        closed.set()
        writer.close()

    listening = await asyncio.start_server(server, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    options = options_of(f"postgresql://u@127.0.0.1:{port}/d?sslmode=disable")
    gc.disable()  # It would close the connection too, some time.
    try:
        connecting = asyncio.create_task(connect(options))
        await arrived.wait()
        connecting.cancel()
        proceed.set()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await asyncio.wait_for(closed.wait(), 10)
    finally:
        gc.enable()
        listening.close()
