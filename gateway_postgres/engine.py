"""PostgreSQL behind one writing connection and a pool that reads.

```text
execute, transaction ──▶ turn ──▶ BEGIN, lock of the database ──▶ … ──▶ COMMIT
fetch ─────────────────────────▶ a reading connection, anew if it is lost
```

Writes take turns, in this process by a lock of its own and among gateways by an
advisory lock: as with SQLite, a transaction that reads and then writes needs no
further care. A write notes its transaction's number before it commits, so that
the server can be asked about a commit whose answer was lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from secrets import token_hex
from typing import Any, Literal, TypeVar

from psycopg import AsyncRawCursor, Error, InterfaceError, OperationalError, errors, pq
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import PoolClosed, PoolTimeout

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.database import Database, Queries, Row, Statements, Values
from gateway_core.storage.errors import (
    ResultTooLarge,
    StorageFull,
    StorageUnavailable,
    TransactionMisuse,
    UniqueViolation,
)

from .dialect import translate
from .listening import WriteSignals
from .pools import PROGRAM, READERS, WAIT, Connection, Pool, connect, make_pool, options_of

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

MOST_RESULT = 32 * 1024 * 1024
"""Bytes of one query's values."""
ATTEMPTS = 3
"""How often a statement is sent whose connection is lost."""
LOCK = 0x6D67_7772
"""Of the gateways that write to this database."""
_BEGIN = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}); SELECT pg_current_xact_id()::text"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_OUTCOME = "SELECT pg_xact_status($1::text::xid8)"
_AGAIN = 1.0
"""Seconds until the server is asked about a commit once more."""
# Rows that libpq hands over together; before version 17 it knows only single ones.
_CHUNK = 100 if pq.version() >= 170000 else 1

log = logging.getLogger(__name__)


class _Lost(Exception):
    """The connection was lost, and the transaction with it."""


async def open_postgres(url: str, gateway: str = "") -> Database:
    """Connect to a database. Raises DatabaseUnusable, which names no password."""
    options = options_of(url)
    # Each process has a name of its own, by which it can be told from others on the database;
    # those of one ``gateway`` have that in common.
    if options["application_name"] == PROGRAM:
        options["application_name"] = f"{PROGRAM}/{gateway or token_hex(4)}/{token_hex(4)}"
    try:
        probe = await connect(options)
        try:
            encoding = probe.info.parameter_status("server_encoding")
        finally:
            await probe.close()
    except Error as error:
        raise DatabaseUnusable(f"The PostgreSQL database cannot be used: {error}") from error
    if encoding != "UTF8":
        raise DatabaseUnusable(
            f"The PostgreSQL database has the encoding {encoding}; the gateway needs UTF8."
        )
    writer = make_pool(options, "postgres writer", 1, writes=True)
    readers = make_pool(options, "postgres readers", READERS, writes=False)
    try:
        await writer.open()
        await readers.open()
    except BaseException:
        await writer.close()
        await readers.close()
        raise
    return PostgresDatabase(writer, readers, WriteSignals(options), options)


class PostgresDatabase:
    """An open PostgreSQL database; see ``Database``."""

    engine: Literal["postgres"] = "postgres"

    def __init__(
        self, writer: Pool, readers: Pool, signals: WriteSignals, options: dict[str, Any]
    ) -> None:
        self._options = options
        self._writer = writer
        self._readers = readers
        self._signals = signals
        self._turn = asyncio.Lock()
        self._owner: asyncio.Task[Any] | None = None
        self._open_connection: Connection | None = None
        """Of the transaction that is open."""
        self._ending = set[asyncio.Task[Any]]()
        """What is done to its end, whoever waits for it."""
        self._is_closed = False

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        self._refuse()
        with in_our_words(reads=True):
            for attempt in range(ATTEMPTS):
                try:
                    async with self._readers.connection() as connection, _noticing_loss(connection):
                        return await _fetch(connection, sql, values)
                except _Lost as error:
                    if attempt == ATTEMPTS - 1:
                        raise StorageUnavailable from error
                    await self._readers.check()
        raise AssertionError

    async def execute(self, sql: str, /, **values: Any) -> int:
        return await self._write(lambda connection: _execute(connection, sql, values))

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        return await self._write(lambda connection: _execute_many(connection, sql, rows))

    async def write_all(self, statements: Sequence[tuple[str, Sequence[Values]]], /) -> None:
        async def work(connection: Connection) -> None:
            for sql, rows in statements:
                await _execute_many(connection, sql, rows)

        await self._write(work, patient=True)

    async def purge(self, sql: str, /, **values: Any) -> int:
        changed = await self.execute(sql, **values)
        # Makes the space of the rows free for others. A file of the server may hold their bytes
        # until then, and its write-ahead log for as long as that is kept.
        with suppress(StorageUnavailable, errors.InsufficientPrivilege):
            table = sql.split()[2]
            await self._in_turn(self._with_writer(lambda c: c.execute(f"VACUUM {table}")))
        return changed

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Statements]:
        self._refuse()
        await self._turn.acquire()
        connection: Connection | None = None
        transaction: PostgresTransaction | None = None
        try:
            self._refuse()
            with in_our_words():
                connection = await self._writer.getconn()
                number = await self._begin(connection)
            self._open_connection = connection
            self._owner = asyncio.current_task()
            transaction = PostgresTransaction(connection)
            yield transaction
            transaction.end()
            with in_our_words():
                await self._commit(connection, number)
        except _Lost as error:
            raise StorageUnavailable from error
        finally:
            if transaction is not None:
                transaction.end()
            self._owner = self._open_connection = None
            # Not awaited, for the task may be cancelled again; nobody has a turn before it ends.
            self._finish(self._give_back(connection)).add_done_callback(self._release)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Queries]:
        self._refuse()
        with in_our_words():
            connection = await connect(self._options)
        try:
            with in_our_words():
                await connection.execute(_READ)
            yield PostgresTransaction(connection)
        finally:
            await connection.close()

    async def wait_for_writes(self, look_every: float) -> None:
        await self._signals.wait(look_every)

    async def close(self) -> None:
        if self._owner is not None and self._owner is asyncio.current_task():
            raise TransactionMisuse("A transaction is open; use it, or end it first")
        self._is_closed = True
        if self._open_connection is not None:
            await self._open_connection.close()
        while self._ending:
            await asyncio.wait(self._ending)
        await self._signals.close()
        await self._writer.close()
        await self._readers.close()

    def _refuse(self) -> None:
        if self._owner is not None and self._owner is asyncio.current_task():
            raise TransactionMisuse("A transaction is open; use it, or end it first")
        if self._is_closed:
            raise StorageUnavailable("The gateway's database is closed")

    async def _write(self, work: Work[T], *, patient: bool = False) -> T:
        """Do a transaction in its turn, and again as long as it is sure that it was undone.

        ``patient`` waits for the server to say what became of a commit, however long it is away.
        """
        self._refuse()
        return await self._in_turn(self._write_now(work, patient))

    async def _in_turn(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in its turn, and then to its end, even if its caller gives up."""
        try:
            await self._turn.acquire()
        except BaseException:
            work.close()
            raise
        task = self._finish(work)
        task.add_done_callback(self._release)
        return await asyncio.shield(task)

    def _finish(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    def _release(self, task: "asyncio.Task[Any]") -> None:
        self._turn.release()
        if not task.cancelled():
            task.exception()  # Whoever waited may be gone; nobody else is to hear of it.

    async def _write_now(self, work: Work[T], patient: bool) -> T:
        with in_our_words():
            for attempt in range(ATTEMPTS):
                try:
                    return await self._with_writer(lambda c: self._attempt(c, work, patient))
                except _Lost as error:
                    if attempt == ATTEMPTS - 1:
                        raise StorageUnavailable from error
        raise AssertionError

    async def _attempt(self, connection: Connection, work: Work[T], patient: bool) -> T:
        number = await self._begin(connection)
        try:
            async with _noticing_loss(connection):
                result = await work(connection)
        except Error:
            await _roll_back(connection)
            raise
        await self._commit(connection, number, patient)
        return result

    async def _with_writer(self, work: Work[T]) -> T:
        with in_our_words():
            async with self._writer.connection() as connection:
                return await work(connection)

    async def _begin(self, connection: Connection) -> str:
        """Begin a transaction that no other gateway writes beside; gives its number."""
        async with _noticing_loss(connection):
            try:
                cursor = await connection.execute(_BEGIN)
            except Error:
                await _roll_back(connection)
                raise
            while cursor.nextset():
                pass
            row = await cursor.fetchone()
        return str(row[0]) if row else ""

    async def _commit(self, connection: Connection, number: str, patient: bool = False) -> None:
        try:
            async with _noticing_loss(connection):
                await connection.execute("COMMIT")
        except _Lost:
            if not await self._was_committed(number, patient):
                raise

    async def _was_committed(self, number: str, patient: bool) -> bool:
        """Ask about a commit whose answer was lost. Raises StorageUnavailable while the server
        is away."""
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT
        while True:
            with suppress(Error, PoolTimeout):
                async with self._readers.connection() as connection:
                    cursor = AsyncRawCursor(connection)
                    await cursor.execute(_OUTCOME, [number])
                    row = await cursor.fetchone()
                if row and row[0] != "in progress":
                    return bool(row[0] == "committed")
            if self._is_closed or (not patient and loop.time() > until):
                raise StorageUnavailable
            await asyncio.sleep(_AGAIN)

    async def _give_back(self, connection: Connection | None) -> None:
        if connection is not None:
            await _roll_back(connection)
            await self._writer.putconn(connection)


class PostgresTransaction:
    """Statements inside an open transaction. One that fails is undone alone."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        return await self._run(lambda connection: _fetch(connection, sql, values))

    async def execute(self, sql: str, /, **values: Any) -> int:
        return await self._run(lambda connection: _execute(connection, sql, values))

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        async def work(connection: Connection) -> int:
            async with connection.transaction():  # A savepoint.
                return await _execute_many(connection, sql, rows)

        return await self._run(work)

    def end(self) -> None:
        self._connection = None

    async def _run(self, work: Work[T]) -> T:
        if self._connection is None:
            raise TransactionMisuse("The transaction has ended")
        with in_our_words():
            try:
                async with _noticing_loss(self._connection):
                    return await work(self._connection)
            except _Lost as error:
                raise StorageUnavailable from error


@contextmanager
def in_our_words(*, reads: bool = False) -> Iterator[None]:
    """Put the engine's errors into our words."""
    try:
        yield
    except errors.UniqueViolation as error:
        raise UniqueViolation(str(error)) from error
    except errors.ReadOnlySqlTransaction as error:
        if reads:
            raise TransactionMisuse("A query that writes belongs into a transaction") from error
        raise StorageFull from error
    except errors.DiskFull as error:
        raise StorageFull from error
    except PoolClosed as error:
        raise StorageUnavailable("The gateway's database is closed") from error
    except (OperationalError, InterfaceError) as error:
        raise StorageUnavailable from error


@asynccontextmanager
async def _noticing_loss(connection: Connection) -> AsyncIterator[None]:
    """Tell an error that ended the connection from one that did not."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        if connection.closed:
            raise _Lost from error
        raise


async def _fetch(connection: Connection, sql: str, values: Row) -> list[Row]:
    """Read as the rows come, so that a result that is too large is not held whole."""
    statement = translate(sql)
    rows: list[Row] = []
    size = 0
    async with AsyncRawCursor(connection, row_factory=dict_row) as cursor:
        stream = cursor.stream(statement.sql, statement.pick(values), size=_CHUNK)
        async with aclosing(stream):  # type: ignore[type-var]  # it is a generator
            async for row in stream:
                size += sum(len(v.encode()) if isinstance(v, str) else 8 for v in row.values())
                if size > MOST_RESULT:
                    raise ResultTooLarge(MOST_RESULT)
                rows.append(row)
    return rows


async def _execute(connection: Connection, sql: str, values: Row) -> int:
    statement = translate(sql)
    async with AsyncRawCursor(connection) as cursor:
        # Not prepared: another gateway may change the schema, which ends a prepared plan.
        await cursor.execute(statement.sql, statement.pick(values) or None, prepare=False)
        return _changed(cursor)


async def _execute_many(connection: Connection, sql: str, rows: Sequence[Values]) -> int:
    if not rows:
        return 0
    statement = translate(sql)
    async with AsyncRawCursor(connection) as cursor:
        # psycopg sends them in a pipeline, with one wait for all.
        await cursor.executemany(statement.sql, [statement.pick(row) for row in rows])
        return _changed(cursor)


def _changed(cursor: "AsyncRawCursor[Any]") -> int:
    """The rows a statement changed; none by a statement that changes the schema."""
    return max(cursor.rowcount, 0)


async def _roll_back(connection: Connection) -> None:
    """Undo what is open; a connection that cannot do so is closed, which undoes it too."""
    try:
        if connection.info.transaction_status is not TransactionStatus.IDLE:
            await connection.execute("ROLLBACK")
    except Error:
        await connection.close()
