"""One row for each finished request, written in batches off the path of any request."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import tzinfo

from msgspec.structs import asdict, replace

from ..contracts.usage import Usage
from ..storage.moments import iso, local_day
from ..storage.usage import UsageRecord
from .prices import Prices
from .trace import Trace

FLUSH_AFTER = 0.25
"""Seconds a finished request may wait to be written."""
FLUSH_ROWS = 200
MOST_WAITING = 10_000
AT_ONCE = 25
"""Rows that are made before others get their turn."""
RETRY_AFTER = 2.0

log = logging.getLogger(__name__)

Write = Callable[[Sequence[UsageRecord]], Awaitable[None]]
Observe = Callable[[UsageRecord], Awaitable[None]]
Count = Callable[[UsageRecord], None]


class Ledger:
    """Takes finished requests and writes them. ``aclose`` writes what is left."""

    def __init__(
        self,
        write: Write,
        prices: Prices,
        observe: Observe | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        self._write = write
        self._observe = observe
        self._zone = zone
        self.prices = prices
        self.count: Count | None = None
        """Is given each row once, when it is made."""
        self._counted = 0
        """Rows at the head of the queue that were given to ``count`` already."""
        self._waiting: list[Trace] = []
        self._lost = 0
        self._due: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._pausing = False
        """True from a failed write until it is tried again."""
        self._closed = False

    def record(self, trace: Trace) -> None:
        """Take a finished request, once. Never waits and never raises."""
        if trace.is_recorded:
            return
        trace.is_recorded = True
        if len(self._waiting) >= MOST_WAITING:
            self._lost += 1
            if self._lost in (1, 1000, 100_000):
                log.error("the usage queue is full; %d rows could not be kept", self._lost)
            return
        self._waiting.append(trace)
        if len(self._waiting) >= FLUSH_ROWS and not self._pausing:
            self._begin()
        elif self._due is None:
            self._due = asyncio.get_running_loop().call_later(FLUSH_AFTER, self._begin)

    async def commit(self, trace: Trace) -> None:
        """Take a finished request and write it before going on, as far as that is possible."""
        self.record(trace)
        try:
            await self.flush()
        except Exception:
            log.exception("usage rows could not be written; they are kept and tried again")
            if self._due is None:
                self._due = asyncio.get_running_loop().call_later(RETRY_AFTER, self._begin)

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """While the block runs no row is written."""
        async with self._writing:
            yield

    async def flush(self) -> None:
        """Write what waits now. Raises what the database raises; nothing is lost then."""
        while self._flushing is not None:
            await asyncio.shield(self._flushing)
        while self._waiting:
            await self._write_some()

    async def aclose(self) -> None:
        self._closed = True
        if self._due is not None:
            self._due.cancel()
        try:
            await self.flush()
        except Exception:
            log.exception("%d usage rows could not be written", len(self._waiting))

    def _begin(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._pausing = False
        if self._flushing is None and not self._closed:
            self._flushing = asyncio.get_running_loop().create_task(self._flush_quietly())

    async def _flush_quietly(self) -> None:
        try:
            while self._waiting:
                await self._write_some()
        except Exception:
            log.exception("usage rows could not be written; they are kept and tried again")
            if not self._closed:
                if self._due is not None:
                    self._due.cancel()
                self._pausing = True
                self._due = asyncio.get_running_loop().call_later(RETRY_AFTER, self._begin)
        finally:
            self._flushing = None

    async def _write_some(self) -> None:
        async with self._writing:  # two at once would write the same rows and forget others
            batch = self._waiting[:FLUSH_ROWS]
            rows = await self._rows(batch)
            self._count(rows)
            await self._write(rows)
            del self._waiting[: len(batch)]
            self._counted -= len(batch)
        if self._observe is not None:
            for row in rows:
                await self._observe(row)

    def _count(self, rows: Sequence[UsageRecord]) -> None:
        """Give each row on once, even if writing it is tried again."""
        if self.count is not None:
            for row in rows[self._counted :]:
                self.count(row)
        self._counted = max(self._counted, len(rows))

    async def _rows(self, batch: Sequence[Trace]) -> list[UsageRecord]:
        """Here and not on a thread: work for the interpreter's lock there would hold up more."""
        if not all(self.prices.is_ready(trace.target) for trace in batch):
            await asyncio.to_thread(self.prices.prepare)
        rows = []
        for number, trace in enumerate(batch, 1):
            rows.append(record_of(trace, self.prices, self._zone))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return rows


def sound(usage: Usage | None) -> Usage | None:
    """Parts are at most their whole, whatever a vendor reports."""
    if usage is None:
        return None
    cached = min(usage.cached_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - cached)
    reasoning = min(usage.reasoning_tokens, usage.output_tokens)
    if (cached, written, reasoning) == (
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
    ):
        return usage
    return replace(
        usage, cached_tokens=cached, cache_write_tokens=written, reasoning_tokens=reasoning
    )


def record_of(trace: Trace, prices: Prices, zone: tzinfo | None = None) -> UsageRecord:
    """A finished request as its row."""
    usage, target = sound(trace.usage), trace.target
    first = None if trace.first_byte is None else trace.first_byte - trace.begun
    lasted = trace.over - trace.begun
    return UsageRecord(
        request_id=trace.request_id,
        started_at=iso(trace.started_at),
        finished_at=iso(trace.started_at + lasted),
        provider=target.provider.id if target else None,
        model_asked=trace.model,
        model_sent=target.model.id if target else None,
        connection_id=trace.connection_id,
        api_key_id=None if trace.key is None else trace.key.id,
        day=local_day(trace.started_at + lasted, zone).isoformat(),
        endpoint=trace.endpoint,
        client_format=trace.format,
        upstream_format=trace.upstream_format,
        stream=trace.stream,
        status=trace.status,
        http_status=trace.http_status,
        error_code=trace.error_code,
        **({} if usage is None else asdict(usage)),
        cost=prices.cost(target, usage) if target and usage else None,
        ttft_ms=None if first is None else round(first * 1000),
        duration_ms=round(lasted * 1000),
        combo_id=trace.combo_id,
        combo_name=trace.combo_name,
        attempts=trace.attempts,
        dropped=trace.dropped,
    )
