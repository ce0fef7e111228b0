"""Filling a PostgreSQL database from another one: whole, compared row by row, or not at all.

Imported only where it is used, as psycopg is.
"""

import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct
from psycopg import AsyncRawCursor, Error

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.storable import storable

from .engine import LOCK
from .pools import Connection, connect, options_of

AT_ONCE = 500
LOCK_WAIT = 30
"""Seconds for another program that has a table locked."""
_encode = msgspec.json.Encoder().encode


class Contents(Struct):
    """How many rows a table has, and a digest that does not depend on their order."""

    rows: int = 0
    digest: int = 0

    def add(self, row: Iterable[Any]) -> None:
        self.rows += 1
        one = blake2b(_encode(list(map(storable, row))), digest_size=16).digest()
        self.digest = (self.digest + int.from_bytes(one)) % (1 << 128)


class Probe(Struct, frozen=True):
    """What a server says of itself."""

    version: int
    """Its major version."""
    latency_ms: int


class LoadFailed(Exception):
    """A table did not arrive as it was; nothing of the database was changed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Loading:
    """A transaction that fills tables."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def clear(self, tables: Iterable[str]) -> None:
        await self._connection.execute(f"TRUNCATE {', '.join(tables)}")

    async def fill(
        self, table: str, columns: Sequence[str], chunks: AsyncIterator[Sequence[Sequence[Any]]]
    ) -> int:
        """Copy rows into an empty table, read them back and compare; gives how many there are.

        Raises LoadFailed.
        """
        names = ", ".join(f'"{name}"' for name in columns)
        sent, arrived = Contents(), Contents()
        async with AsyncRawCursor(self._connection) as cursor:
            async with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                async for chunk in chunks:
                    for row in chunk:
                        sent.add(row)
                        await copy.write_row(row)
            async for row in cursor.stream(f"SELECT {names} FROM {table}", size=AT_ONCE):
                arrived.add(row)
        if sent.rows != arrived.rows:
            raise LoadFailed(
                "row_count_mismatch", f"{table} has {arrived.rows} rows instead of {sent.rows}"
            )
        if sent != arrived:
            raise LoadFailed("digest_mismatch", f"the rows of {table} are not those that were sent")
        return sent.rows


@asynccontextmanager
async def loading(url: str) -> AsyncIterator[Loading]:
    """Fill a database that is up to date; commits when the block ends without an error.

    Raises LoadFailed.
    """
    try:
        connection = await connect(options_of(url))
        try:
            async with connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT}s'")
                await connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
                yield Loading(connection)
        finally:
            await connection.close()
    except Error as error:
        # Not the whole message: its details quote what is in a row.
        raise LoadFailed(
            "copy_failed", error.diag.message_primary or type(error).__name__
        ) from None


async def probe(url: str) -> Probe:
    """Ask a server for its version. Raises DatabaseUnusable."""
    began = time.monotonic()
    try:
        connection = await connect(options_of(url))
        try:
            await connection.execute("SELECT 1")
            version = connection.info.server_version // 10_000
        finally:
            await connection.close()
    except Error as error:
        raise DatabaseUnusable(f"The PostgreSQL database cannot be used: {error}") from None
    return Probe(version, round((time.monotonic() - began) * 1000))
