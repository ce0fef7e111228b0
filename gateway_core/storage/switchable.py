"""The database that stores use, behind which the engine may change while the gateway runs.

Another process may change it too: see ``agreement``. Whoever reads or writes looks first whether
one did, and this process then follows.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from msgspec import Struct

from ..config.errors import StartRefused
from .agreement import Agreement, Served
from .database import Database, Queries, Row, Statements, Values
from .errors import StorageUnavailable
from .opening import Storage

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


Reopen = Callable[[Served], Awaitable[tuple[Storage, Selection, int]]]
"""Opens what is served, and gives the switch that led to it. Raises a StartRefused."""


class SwitchableDatabase:
    """A ``Database`` that hands everything on to the one that is served now."""

    def __init__(
        self,
        database: Database,
        selection: Selection,
        agreement: Agreement | None = None,
        reopen: Reopen | None = None,
    ) -> None:
        """Without an agreement no other process is on the data directory."""
        self.selection = selection
        self.agreement = agreement
        self._reopen = reopen
        self._following: asyncio.Task[bool] | None = None
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
        await self._look()
        return await self._current.fetch(sql, **values)

    async def execute(self, sql: str, /, **values: Any) -> int:
        async with self._write() as database:
            return await database.execute(sql, **values)

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        async with self._write() as database:
            return await database.execute_many(sql, rows)

    async def write_all(self, statements: Sequence[tuple[str, Sequence[Values]]], /) -> None:
        async with self._write() as database:
            await database.write_all(statements)

    async def purge(self, sql: str, /, **values: Any) -> int:
        async with self._write() as database:
            return await database.purge(sql, **values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Statements]:
        async with self._write() as database, database.transaction() as transaction:
            yield transaction

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Queries]:
        await self._look()
        async with self._current.reading() as view:
            yield view

    async def wait_for_writes(self, look_every: float) -> None:
        waiting = asyncio.ensure_future(self._current.wait_for_writes(look_every))
        try:
            # The engine that was left does not tell of writes to the other one.
            while not (await asyncio.wait([waiting], timeout=look_every))[0]:
                if self.agreement is not None and not self.agreement.is_current:
                    break
        finally:
            waiting.cancel()

    async def close(self) -> None:
        if self._following is not None:
            await asyncio.wait([self._following])
        await self._current.close()
        if self.agreement is not None:
            self.agreement.close()
            self.agreement = None

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Refuse writes of this process while the block runs; begins when those under way have
        ended."""
        self._is_paused = True
        try:
            await self._idle.wait()
            yield
        finally:
            self._is_paused = False

    async def switch(self, database: Database, selection: Selection) -> None:
        """Serve another engine from now on, and close the one before. Nobody writes meanwhile."""
        before, self._current, self.selection = self._current, database, selection
        try:
            await before.close()
        except Exception as error:
            log.error("the database that is served no longer did not close: %s", error)

    async def follow(self) -> bool:
        """Serve what the other processes serve; false while one of them changes it.

        Raises StorageUnavailable.
        """
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
            self._following.add_done_callback(self._forget)
        return await asyncio.shield(self._following)

    async def _look(self) -> None:
        """Follow, unless a change is under way: until its end, what is served is complete."""
        if self.agreement is not None and not (self._is_paused or self.agreement.is_current):
            await self.follow()

    @asynccontextmanager
    async def _write(self) -> AsyncIterator[Database]:
        if self._is_paused:
            raise StorageUnavailable(PAUSED)
        self._writing += 1
        self._idle.clear()
        agreement = self.agreement
        try:
            while agreement is not None and not agreement.begin_write():
                if not await self.follow():
                    raise StorageUnavailable(PAUSED)
            try:
                yield self._current
            finally:
                if agreement is not None:
                    agreement.end_write()
        finally:
            self._writing -= 1
            if not self._writing:
                self._idle.set()

    async def _follow(self) -> bool:
        agreement, reopen = self.agreement, self._reopen
        assert agreement is not None
        assert reopen is not None
        with agreement.unchanging() as is_unchanging:
            if not is_unchanging:
                return False
            served, switch = agreement.served(), agreement.switch
            # What the start has fixed on PostgreSQL was not what others have changed.
            is_bound = self.selection.is_fixed and bool(self.selection.url)
            if served and not is_bound and (served.change or served.switch != switch):
                try:
                    storage, selection, switch = await reopen(served)
                except StartRefused as error:
                    raise StorageUnavailable from error
                if switch == agreement.switch:
                    await storage.database.close()
                else:
                    await self.switch(storage.database, selection)
                    log.info("another process changed the database: %s is served", self.engine)
            agreement.take(switch)
            return True

    def _forget(self, task: "asyncio.Task[bool]") -> None:
        self._following = None
        if not task.cancelled():
            task.exception()  # Whoever waited may be gone; nobody else is to hear of it.
