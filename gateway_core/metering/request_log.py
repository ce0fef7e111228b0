"""Keeps the contents of requests and answers, while the operator has turned that on.

It is off until it is set explicitly: the setting's default alone keeps
nothing. While it is off, a request only reads ``is_on`` once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ..config.environment import Environment
from ..config.settings import Settings
from ..contracts.provider import Call
from ..storage.failure_log import FailureLog
from ..storage.moments import iso
from ..storage.stores.request_details import RequestDetail
from .request_log_entry import Cut, RequestLogEntry
from .request_record import RequestRecord

KIB = 1024
MOST_WAITING = 500

log = logging.getLogger(__name__)


class Extent(Struct, frozen=True, kw_only=True):
    """Whether details are kept, and how many."""

    is_on: bool = False
    most: int = 1000
    """Rows that are kept."""
    batch: int = 20
    wait_ms: int = 5000
    longest_kib: int = 5


def extent(document: Mapping[str, Any], settings: Settings, environment: Environment) -> Extent:
    """The extent that is configured. A process variable wins over the stored document."""
    override = environment.observability_enabled
    return Extent(
        is_on=document.get("enableObservability") is True if override is None else override,
        most=environment.observability_max_records or settings.observability_max_records,
        batch=environment.observability_batch_size or settings.observability_batch_size,
        wait_ms=environment.observability_flush_interval_ms
        or settings.observability_flush_interval_ms,
        longest_kib=environment.observability_max_json_size or settings.observability_max_json_size,
    )


class Keeper(Protocol):
    """Where details go."""

    async def insert_many(self, details: Sequence[RequestDetail], *, keep: int) -> None: ...


class RequestLog:
    """Takes the details of requests and writes them. ``aclose`` writes what is left."""

    def __init__(self, keeper: Keeper, read: Callable[[], Awaitable[Extent]]) -> None:
        """``read`` returns the extent that is configured now."""
        self.is_on = False
        self._keeper = keeper
        self._read = read
        self._extent = Extent()
        self._waiting: list[tuple[str, str, Cut]] = []
        self._due: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._trouble = FailureLog(log, "Writing request details", "Those of this while are lost.")

    async def refresh(self) -> None:
        """Follow the settings."""
        self._extent = await self._read()
        self.is_on = self._extent.is_on

    def begin(self, call: Call) -> RequestLogEntry:
        """Start recording a request."""
        return RequestLogEntry(call, self._extent.longest_kib * KIB)

    def end(self, record: RequestRecord, detail: RequestLogEntry) -> None:
        """A request is over. Never waits and never raises."""
        if len(self._waiting) >= MOST_WAITING:
            return
        ended = iso(record.started_at + record.over - record.begun)
        self._waiting.append((record.request_id, ended, detail.cut()))
        if len(self._waiting) >= self._extent.batch:
            self._begin()
        elif self._due is None:
            wait = self._extent.wait_ms / 1000
            self._due = asyncio.get_running_loop().call_later(wait, self._begin)

    async def flush(self) -> None:
        """Write what waits now. Raises what the database raises."""
        async with self._writing:
            taken, self._waiting = self._waiting, []
            if taken:
                rows = await asyncio.to_thread(_rows, taken)
                await self._keeper.insert_many(rows, keep=self._extent.most)

    async def aclose(self) -> None:
        if self._due is not None:
            self._due.cancel()
        if self._flushing is not None:
            await asyncio.wait((self._flushing,))
        await self._flush_quietly()

    def _begin(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush_quietly())

    async def _flush_quietly(self) -> None:
        try:
            while self._waiting:
                await self.flush()
                self._trouble.over()
        except Exception as error:
            self._trouble.met(error)


def _rows(taken: Sequence[tuple[str, str, Cut]]) -> list[RequestDetail]:
    return [cut.written(request_id, ended) for request_id, ended, cut in taken]
