"""A copy of a PostgreSQL database to try things on, of which nothing stays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

from psycopg import AsyncRawCursor, Error, sql

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.database import Statements

from .engine import PostgresTransaction, in_our_words
from .pools import Connection, connect, options_of

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"
_TABLES = """
    SELECT table_name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name
"""
_SHAPE = "CREATE TABLE {copy}.{table} (LIKE {table} INCLUDING ALL)"
_ROWS = "INSERT INTO {copy}.{table} SELECT * FROM {table}"


@asynccontextmanager
async def copy_of_postgres(url: str) -> AsyncIterator[Statements]:
    """A transaction in which every table is a copy, and which is undone at its end.

    The tables themselves are read only; gateways that serve them are not held up. The server needs
    room for the copy. Raises DatabaseUnusable, and StorageUnavailable where the server fails later.
    """
    try:
        connection = await connect(options_of(url))
    except Error as error:
        raise DatabaseUnusable(f"The PostgreSQL database cannot be used: {error}") from error
    try:
        with in_our_words():
            # Whatever happens, even to this process: a schema of an open transaction is nobody's.
            await connection.execute(_BEGIN)
            await _copy_tables(connection)
        yield PostgresTransaction(connection)
    finally:
        await connection.close()


async def _copy_tables(connection: Connection) -> None:
    schema = sql.Identifier(f"copy_{token_hex(8)}")
    await connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
    async with AsyncRawCursor(connection) as cursor:
        await cursor.execute(_TABLES)
        names = [name async for (name,) in cursor]
    for name in names:
        for statement in (_SHAPE, _ROWS):
            table = sql.Identifier(name)
            await connection.execute(sql.SQL(statement).format(copy=schema, table=table))
    await connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(schema))
