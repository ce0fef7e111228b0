"""One row for each finished request: journaled at once, written in batches by a task of its own.

```text
record ──▶ journal (one write, before the client sees the end of its answer)
   └─────▶ queue ──▶ batch ──▶ database, and the journal's mark in the same transaction
```

While the database fails, the queue fills up. Then rows wait in the journal alone, and are read
back in order once the queue is short again. So neither memory nor the number of rows is a limit.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import tzinfo
from itertools import islice
from math import floor

from msgspec.structs import replace

from ..contracts.usage import Usage
from ..storage.failure_log import FailureLog
from ..storage.journal import Journal
from ..storage.stores.key_usage import Spending, spent_of
from ..storage.stores.usage import Mark, UsageRecord
from .prices import Prices
from .request_record import RequestRecord
from .timestamps import Timestamps

FLUSH_AFTER = 0.25
"""Seconds a finished request may wait to be written."""
FLUSH_ROWS = 500
MOST_WAITING = 10_000
"""Rows in memory; further ones are in the journal alone."""
RETRY_AFTER = 2.0

log = logging.getLogger(__name__)

Write = Callable[[Sequence[UsageRecord], Mark], Awaitable[None]]
Observe = Callable[[UsageRecord], Awaitable[None]]
Count = Callable[[UsageRecord], None]


class Ledger:
    """Takes finished requests and writes them. ``aclose`` writes what is left.

    A row is built at once, so that the request's body and answer can be freed.
    """

    def __init__(
        self,
        write: Write,
        journal: Journal,
        prices: Prices,
        observe: Observe | None = None,
        zone: tzinfo | None = None,
        count: Count | None = None,
    ) -> None:
        """``count`` is called once with each row, as soon as it is taken."""
        self._write = write
        self._journal = journal
        self._observe = observe
        self._timestamps = Timestamps(zone)
        self.prices = prices
        self._count_row = count
        self.waiting: list[UsageRecord] = []
        """Rows in memory that are not in the database yet, in order."""
        self._positions: list[int] = []
        """Of the journal, behind each of them; what is before it is in the database by then."""
        self._read_to = 0
        """The journal's position up to which its rows are in memory or in the database."""
        self._on_disk: dict[tuple[str, str], Spending] = {}
        """What keys used on a day in the rows behind that."""
        self._lost = 0
        self._trouble = FailureLog(
            log,
            "Writing usage rows",
            f"They are kept and tried again; those above {MOST_WAITING} are in the journal alone.",
        )
        self._due: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._pausing = False
        """True from a failed write until it is tried again."""
        self._closed = False

    def record(self, record: RequestRecord) -> None:
        """Take a finished request, once. Never waits and never raises.

        When this returns, the row outlives the process, and is counted against its key's limits.
        """
        if record.is_recorded:
            return
        record.is_recorded = True
        try:
            row = record_of(record, self.prices, self._timestamps)
        except Exception:
            log.exception("the usage row of request %s could not be made", record.request_id)
            return
        is_behind, before = self._is_behind(), self._journal.end
        is_journaled = self._journal.append(row) > before
        if is_journaled and (is_behind or len(self.waiting) >= MOST_WAITING):
            for key, day, used in spent_of((row,)):
                self._on_disk[key, day] = self._on_disk.get((key, day), Spending()).plus(used)
        elif len(self.waiting) >= MOST_WAITING:
            self._lost += 1
            if self._lost in (1, 1000, 100_000):
                log.error("neither queue nor journal takes usage rows; %d are lost", self._lost)
        else:
            if is_journaled:
                self._read_to = self._journal.end
            self._positions.append(self._read_to)
            self.waiting.append(row)
        if self._count_row is not None:
            self._count_row(row)
        if len(self.waiting) >= FLUSH_ROWS and not self._pausing:
            self._begin()
        elif self._due is None:
            self._begin_in(FLUSH_AFTER)

    def unwritten(self) -> Iterator[tuple[str, str, Spending]]:
        """What the rows that are not in the database yet say of keys: key id, local day, what was
        used."""
        yield from spent_of(self.waiting)
        for (key, day), used in self._on_disk.items():
            yield key, day, used

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """While the block runs no row is written."""
        async with self._writing:
            yield

    async def flush(self) -> None:
        """Write what waits now. Raises what the database raises; nothing is lost then."""
        while self._flushing is not None:
            await asyncio.shield(self._flushing)
        while self.waiting or self._is_behind():
            await self._write_some()

    async def settle(self) -> None:
        """Write what waits by now, for somebody who reads the rows; never raises."""
        with suppress(Exception):  # A database that fails is tried again later.
            for _ in range(0, len(self.waiting), FLUSH_ROWS):
                await self._write_some()

    async def aclose(self) -> None:
        self._closed = True
        self._cancel_due()
        try:
            await self.flush()
        except Exception:
            message = "%d usage rows could not be written; what is in the journal waits for a start"
            log.exception(message, len(self.waiting))

    def _begin(self) -> None:
        self._cancel_due()
        if self._closed:
            return
        self._pausing = False
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().create_task(self._flush_quietly())

    def _begin_in(self, seconds: float) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _cancel_due(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    async def _flush_quietly(self) -> None:
        """Write the queue down to a partial batch; on failure try again later."""
        try:
            await self._write_some()
            # A few rows wait for others: a commit costs as much as a hundred rows.
            while len(self.waiting) >= FLUSH_ROWS or self._is_behind():
                await self._write_some()
        except Exception as error:
            self._trouble.met(error)
            if not self._closed:
                self._cancel_due()
                self._pausing = True
                self._begin_in(RETRY_AFTER)
        else:
            if self.waiting and not self._closed:
                self._begin_in(FLUSH_AFTER)
        finally:
            self._flushing = None

    async def _write_some(self) -> None:
        async with self._writing:  # two at once would write the same rows and forget others
            if len(self.waiting) < FLUSH_ROWS and self._is_behind():
                self._read_back()
            rows = self.waiting[:FLUSH_ROWS]
            if not rows:
                return
            position = self._positions[len(rows) - 1]
            await self._write(rows, Mark(self._journal.name, position))
            self._trouble.over()
            del self.waiting[: len(rows)], self._positions[: len(rows)]
        self._journal.release(position)
        if self._observe is not None:
            for row in rows:
                await self._observe(row)

    def _is_behind(self) -> bool:
        """Whether rows are in the journal alone."""
        return self._read_to < self._journal.end

    def _read_back(self) -> None:
        """Take rows into memory that are in the journal alone. Raises OSError."""
        rows = list(islice(self._journal.rows_after(self._read_to), FLUSH_ROWS))
        self._read_to = rows[-1][1] if len(rows) == FLUSH_ROWS else self._journal.end
        for row, position in rows:
            self.waiting.append(row)
            self._positions.append(position)
        for key, day, used in spent_of(row for row, _ in rows):
            self._on_disk[key, day] = self._on_disk[key, day].minus(used)
        if not self._is_behind():
            self._on_disk.clear()


def clamp_usage(usage: Usage | None) -> Usage | None:
    """Limit each part to its whole, whatever a vendor reports."""
    if usage is None:
        return None
    if not (usage.cached_tokens or usage.cache_write_tokens or usage.reasoning_tokens):
        return usage
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


NOTHING = Usage()


def record_of(record: RequestRecord, prices: Prices, timestamps: Timestamps) -> UsageRecord:
    """A finished request as its row."""
    target, key = record.target, record.key
    usage = clamp_usage(record.usage) or NOTHING
    provider, model = (None, None) if target is None else (target.provider.id, target.model.id)
    cost = None if target is None or record.usage is None else prices.cost(target, usage)
    ended = record.started_at + (lasted := record.over - record.begun)
    until_first = None if record.first_byte is None else record.first_byte - record.begun
    # In the order of the fields, as is usage: by name it would take ten times as long.
    return UsageRecord(
        record.request_id,
        timestamps.iso(record.started_at),
        timestamps.iso(ended),
        record.model,
        record.endpoint,
        provider,
        model,
        record.connection_id,
        None if key is None else key.id,
        record.format,
        record.upstream_format,
        record.stream,
        record.status,
        record.http_status,
        record.error_code,
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        usage.estimated,
        cost,
        None if until_first is None else floor(until_first * 1000 + 0.5),
        floor(lasted * 1000 + 0.5),
        record.combo_id,
        record.combo_name,
        record.attempts,
        timestamps.day(ended),
        usage.units,
        record.error,
        record.dropped,
        # The error of a call with one attempt is the row's own.
        record.failures if record.attempts > 1 else (),
        record.notes,
    )
