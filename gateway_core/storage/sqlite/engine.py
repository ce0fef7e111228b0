"""SQLite behind one writing and one reading thread.

```text
execute, transaction ──▶ turn ──▶ writer thread ──▶ data.sqlite-wal
fetch ─────────────────────────▶ reader thread ──▶ data.sqlite
```

Writes take turns, so nobody ever waits for a lock inside SQLite; reads see the
last commit and never wait for a write. Every commit is synced to disk
(``synchronous = FULL``): usage comes in batches, for which the sync costs
nothing that could be measured, so one writer does for everything.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import apsw

from ...config.errors import DatabaseUnusable
from ..database import Queries, Row, Statements, Values
from ..errors import StorageFull, StorageUnavailable, TransactionMisuse, UniqueViolation
from .integrity import BUSY_MS, connect_reading, gone, inspect, look_through, shut
from .worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

MEMORY = ":memory:"
_UNIQUE = (
    apsw.SQLITE_CONSTRAINT_UNIQUE,
    apsw.SQLITE_CONSTRAINT_PRIMARYKEY,
    apsw.SQLITE_CONSTRAINT_ROWID,
)


async def open_sqlite(path: Path | str, *, expected: bool = False) -> "SqliteDatabase":
    """Open a database file, or one in memory for ``":memory:"``.

    ``expected`` says that an earlier start has left data there. Raises
    DatabaseUnusable, and leaves the file alone, when it is damaged or, if
    expected, missing or empty.
    """
    if path == MEMORY:
        connect = partial(_connect_writer, MEMORY)
        return SqliteDatabase(await Worker.start("sqlite memory", connect, interrupts=False), None)
    file, unchecked = Path(path), list[bool]()
    writer = await Worker.start(
        "sqlite writer", partial(_connect_checked, file, expected, unchecked), interrupts=False
    )
    try:
        reader = await Worker.start(
            "sqlite reader", partial(connect_reading, file), interrupts=True
        )
    except BaseException:
        await writer.close(_finish)
        raise
    looking = asyncio.create_task(look_through(file)) if any(unchecked) else None
    return SqliteDatabase(writer, reader, looking, file)


class SqliteDatabase:
    """An open SQLite database; see ``Database``."""

    engine: Literal["sqlite"] = "sqlite"

    def __init__(
        self,
        writer: Worker,
        reader: Worker | None,
        looking: "asyncio.Task[None] | None" = None,
        file: Path | None = None,
    ) -> None:
        """Without a reader, as in memory, reads take turns with the writes. ``looking`` looks
        for damage and ends with the database."""
        self._file = file
        self._writer = writer
        self._reader = reader
        self._looking = looking
        self._turn = asyncio.Lock()
        self._owner: asyncio.Task[Any] | None = None

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        self._refuse_owner()
        if self._reader is not None:
            return await self._reader.run(_fetch, sql, values)
        async with self._turn:
            return await self._writer.run(_fetch, sql, values)

    async def execute(self, sql: str, /, **values: Any) -> int:
        self._refuse_owner()
        async with self._turn:
            return await self._writer.run(_execute, sql, values)

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        self._refuse_owner()
        async with self._turn:
            return await self._writer.run(_execute_many, sql, rows)

    async def write_all(self, statements: Sequence[tuple[str, Sequence[Values]]], /) -> None:
        self._refuse_owner()
        async with self._turn:
            await self._writer.run(_write_all, statements)

    async def purge(self, sql: str, /, **values: Any) -> int:
        self._refuse_owner()
        async with self._turn:
            return await self._writer.run(_purge, sql, values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Statements]:
        self._refuse_owner()
        async with self._turn:
            self._owner = asyncio.current_task()
            transaction = _Transaction(self._writer)
            try:
                await self._writer.run(_begin)
                yield transaction
                transaction.end()
                await self._writer.run(_commit)
            except BaseException:
                # Not awaited: it runs before anything the next in turn posts.
                self._writer.post(_rollback)
                raise
            finally:
                transaction.end()
                self._owner = None

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Queries]:
        if self._file is None:
            async with self.transaction() as transaction:
                yield transaction
            return
        connect = partial(connect_reading, self._file)
        worker = await Worker.start("sqlite view", connect, interrupts=True)
        try:
            # The first query, not BEGIN, chooses the state that is read.
            for sql in ("BEGIN", "SELECT 1 FROM sqlite_schema"):
                await worker.run(_fetch, sql, {})
            yield _Transaction(worker)
        finally:
            await worker.close(_finish)

    async def wait_for_writes(self, look_every: float) -> None:
        await asyncio.sleep(look_every)

    async def close(self) -> None:
        self._refuse_owner()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        try:
            if self._reader is not None:
                await self._reader.close(apsw.Connection.close)
        finally:
            # Last, because the last connection to close tidies up the write-ahead log.
            await self._writer.close(_finish)

    def _refuse_owner(self) -> None:
        if self._owner is not None and self._owner is asyncio.current_task():
            raise TransactionMisuse("A transaction is open; use it, or end it first")


class _Transaction:
    """Statements inside an open transaction."""

    def __init__(self, writer: Worker) -> None:
        self._writer: Worker | None = writer

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        return await self._open().run(_fetch, sql, values)

    async def execute(self, sql: str, /, **values: Any) -> int:
        return await self._open().run(_execute, sql, values)

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        return await self._open().run(_execute_many, sql, rows)

    def end(self) -> None:
        self._writer = None

    def _open(self) -> Worker:
        if self._writer is None:
            raise TransactionMisuse("The transaction has ended")
        return self._writer


def _guarded(
    work: Callable[Concatenate[apsw.Connection, P], T],
) -> Callable[Concatenate[apsw.Connection, P], T]:
    """Put the engine's errors into our words."""

    def guarded(connection: apsw.Connection, /, *args: P.args, **kw: P.kwargs) -> T:
        try:
            return work(connection, *args, **kw)
        except apsw.ConstraintError as error:
            # apsw sets it on every error, though its annotations do not say so.
            if getattr(error, "extendedresult", None) in _UNIQUE:
                raise UniqueViolation(str(error)) from error
            raise
        except (apsw.FullError, apsw.ReadOnlyError) as error:
            if connection.readonly("main"):
                raise TransactionMisuse("A query that writes belongs into a transaction") from error
            raise StorageFull from error
        except (
            apsw.IOError,
            apsw.BusyError,
            apsw.CantOpenError,
            apsw.CorruptError,
            apsw.NotADBError,
        ) as error:
            raise StorageUnavailable from error

    return guarded


@_guarded
def _fetch(connection: apsw.Connection, sql: str, values: Row) -> list[Row]:
    cursor = connection.execute(sql, values)
    first = cursor.fetchone()
    if first is None:
        return []
    names = [column[0] for column in cursor.get_description()]
    return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]


@_guarded
def _execute(connection: apsw.Connection, sql: str, values: Row) -> int:
    before = connection.total_changes()
    connection.execute(sql, values)
    return connection.total_changes() - before


@_guarded
def _execute_many(connection: apsw.Connection, sql: str, rows: Sequence[Values]) -> int:
    before = connection.total_changes()
    with connection:  # A savepoint, or a transaction where there is none.
        connection.executemany(sql, rows)
    return connection.total_changes() - before


@_guarded
def _write_all(
    connection: apsw.Connection, statements: Sequence[tuple[str, Sequence[Values]]]
) -> None:
    with connection:
        for sql, rows in statements:
            connection.executemany(sql, rows)


@_guarded
def _purge(connection: apsw.Connection, sql: str, values: Row) -> int:
    connection.execute("PRAGMA secure_delete = ON")
    try:
        changed = _execute(connection, sql, values)
    finally:
        connection.execute("PRAGMA secure_delete = OFF")
    # The log still has the rows. A read that is under way keeps them until the next checkpoint.
    connection.set_busy_timeout(0)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.set_busy_timeout(BUSY_MS)
    return changed


@_guarded
def _begin(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")


@_guarded
def _commit(connection: apsw.Connection) -> None:
    connection.execute("COMMIT")


def _rollback(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _finish(connection: apsw.Connection) -> None:
    _rollback(connection)
    connection.close()


def _connect_checked(path: Path, expected: bool, unchecked: list[bool]) -> apsw.Connection:
    """The writer of a file that was looked at; notes whether there is more to look through."""
    if path.exists() and path.stat().st_size:
        unchecked.append(inspect(path, expected))
    elif expected:
        raise DatabaseUnusable(gone(path))
    try:
        return _connect_writer(str(path))
    except apsw.Error as error:
        raise DatabaseUnusable(shut(path, error)) from error


def _connect_writer(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.set_busy_timeout(BUSY_MS)
    if connection.readonly("main"):
        raise DatabaseUnusable(f"The database {path} cannot be written to.")
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = OFF",  # It costs every insert; a purge turns it on for itself.
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")
    return connection
