"""Rows and transactions, of each engine."""

import pytest
from example_table import INSERT, ids

from gateway_core.storage.database import Database
from gateway_core.storage.errors import TransactionMisuse, UniqueViolation
from gateway_core.storage.sqlite.engine import SqliteDatabase

pytestmark = pytest.mark.anyio


async def test_rows_come_back_by_column_name(things: Database) -> None:
    changed = await things.execute(INSERT, id=1, name="one")

    assert changed == 1
    assert await things.fetch("SELECT * FROM things") == [{"id": 1, "name": "one"}]
    assert await things.fetch("SELECT * FROM things WHERE id = :id", id=2) == []


async def test_execute_counts_the_rows_it_changed(things: Database) -> None:
    await things.execute_many(INSERT, [{"id": n, "name": "x"} for n in range(5)])

    assert await things.execute("UPDATE things SET name = 'y' WHERE id > 2") == 2
    assert await things.execute("CREATE TABLE other (id BIGINT)") == 0


async def test_a_missing_value_is_an_error(things: Database) -> None:
    with pytest.raises(KeyError):
        await things.execute(INSERT, id=1)


async def test_a_repeated_key_is_a_unique_violation(things: Database) -> None:
    await things.execute(INSERT, id=1, name="one")

    with pytest.raises(UniqueViolation):
        await things.execute(INSERT, id=1, name="two")


async def test_many_rows_are_written_together_or_not_at_all(things: Database) -> None:
    rows = [{"id": n, "name": ""} for n in (1, 2, 3, 2)]

    with pytest.raises(UniqueViolation):
        await things.execute_many(INSERT, rows)

    assert await ids(things) == []


async def test_many_rows_in_a_transaction_are_undone_alone(things: Database) -> None:
    async with things.transaction() as transaction:
        await transaction.execute(INSERT, id=9, name="")
        with pytest.raises(UniqueViolation):
            await transaction.execute_many(INSERT, [{"id": n, "name": ""} for n in (1, 9)])

    assert await ids(things) == [9]


async def test_a_transaction_commits_when_its_block_ends(things: Database) -> None:
    async with things.transaction() as transaction:
        await transaction.execute(INSERT, id=1, name="")
        assert await transaction.fetch("SELECT count(*) AS n FROM things") == [{"n": 1}]

    assert await ids(things) == [1]


async def test_a_transaction_that_raises_leaves_nothing(things: Database) -> None:
    async def fail() -> None:
        async with things.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await ids(things) == []
    assert await things.execute(INSERT, id=2, name="") == 1


async def test_a_write_can_return_rows_in_a_transaction(things: Database) -> None:
    async with things.transaction() as transaction:
        rows = await transaction.fetch(INSERT + " RETURNING id", id=7, name="")

    assert rows == [{"id": 7}]


async def test_a_write_outside_a_transaction_cannot_hide_in_a_fetch(filed: SqliteDatabase) -> None:
    with pytest.raises(TransactionMisuse):
        await filed.fetch(INSERT + " RETURNING id", id=7, name="")

    assert await ids(filed) == []


async def test_transactions_do_not_nest(things: Database) -> None:
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


async def test_a_transaction_is_of_no_use_after_its_end(things: Database) -> None:
    async with things.transaction() as transaction:
        pass

    with pytest.raises(TransactionMisuse):
        await transaction.execute(INSERT, id=1, name="")
