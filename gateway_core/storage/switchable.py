"""The database that stores use, behind which the engine may change while the gateway runs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

from msgspec import Struct

from .database import Database, Row, Statements, Values
from .errors import StorageUnavailable

PAUSED = "database cutover in progress"

log = logging.getLogger(__name__)


class Selection(Struct, frozen=True, kw_only=True):
    """Which database is served, and why."""

    url: str = ""
    """Of PostgreSQL, with its password; empty for SQLite."""
    is_fallback: bool = False
    """SQLite serves because the chosen PostgreSQL could not be used."""
    error: str | None = None
    is_fixed: bool = False
    """The managed file or a variable chose it, so that the stored settings do not count."""


class SwitchableDatabase:
    """A ``Database`` that hands everything on to the one that is served now."""

    def __init__(self, database: Database, selection: Selection) -> None:
        self.selection = selection
        self._current = database
        self._is_paused = False
        self._writing = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def engine(self) -> Literal["sqlite", "postgres"]:
        return self._current.engine

    @property
    def current(self) -> Database:
        """The engine itself, for whoever paused the writes."""
        return self._current

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        return await self._current.fetch(sql, **values)

    async def execute(self, sql: str, /, **values: Any) -> int:
        with self._write():
            return await self._current.execute(sql, **values)

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        with self._write():
            return await self._current.execute_many(sql, rows)

    async def write_all(self, statements: Sequence[tuple[str, Sequence[Values]]], /) -> None:
        with self._write():
            await self._current.write_all(statements)

    async def purge(self, sql: str, /, **values: Any) -> int:
        with self._write():
            return await self._current.purge(sql, **values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Statements]:
        with self._write():
            async with self._current.transaction() as transaction:
                yield transaction

    async def wait_for_writes(self, look_every: float) -> None:
        await self._current.wait_for_writes(look_every)

    async def close(self) -> None:
        await self._current.close()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Refuse writes while the block runs; begins when those under way have ended."""
        self._is_paused = True
        try:
            await self._idle.wait()
            yield
        finally:
            self._is_paused = False

    async def switch(self, database: Database, selection: Selection) -> None:
        """Serve another engine from now on, and close the one before. Writes are paused."""
        before, self._current, self.selection = self._current, database, selection
        try:
            await before.close()
        except Exception as error:
            log.error("the database that is served no longer did not close: %s", error)

    @contextmanager
    def _write(self) -> Iterator[None]:
        if self._is_paused:
            raise StorageUnavailable(PAUSED)
        self._writing += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._writing -= 1
            if not self._writing:
                self._idle.set()
