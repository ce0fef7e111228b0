"""Runs one batch under a lease: rows begin, are answered and are settled, each exactly once.

```text
begin    the row is noted as under way in the database, then it is sent
answer   its row in the ledger is journaled by the pipeline
settle   its line is appended to this lease's part, and synced;
         one transaction counts it, takes it from the rows under way and raises the part's length
```

Only what stands within a part's length counts. A process that is killed leaves rows under way.
Whoever goes on looks for their lines behind the lengths of the parts: a line that is there settles
its row, and any other row is sent again, under another id. What the killed process may have sent
and never accounted for gets a row in the ledger that says so.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import BinaryIO, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core.contracts.errors import Unavailable
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.model_resolver import MAX_NAME
from gateway_core.storage.errors import StorageFull, StorageUnavailable
from gateway_core.storage.failure_log import FailureLog

from .batch import Batch, RowUnderWay, Status, request_id, row_id
from .folder import BatchFolder
from .input_rows import Checked, InputRow, NewRow, Place, RowReader, check_input
from .output_lines import OutputLine, answer_line, error_line, read_line, write_line
from .pace import LOOK_EVERY, Pace
from .row_call import RowCalls, caller_of, wait_of
from .settings import BatchSettings
from .store import BatchStore, Lease, LeaseLost, Part, Step

LOOK_AFTER = 1.0
"""Seconds after which a batch is looked at, whatever happens: another process may cancel it, and
its time may be over."""
LOG_AFTER = 60.0
RETRY_AFTER = 2.0
MOST_KILLS = 5
"""A row that was under way in so many kills gets an error: it may be what kills the process."""
INTERRUPTED = "interrupted"
"""Code of a request in the ledger whose process was gone before it was accounted for."""

Outcome = Literal["done", "cancelled", "expired", "failed", "left"]
"""``left`` is for another process to go on."""

log = logging.getLogger(__name__)


class Settled(Struct, frozen=True):
    """A row and its line, to be written."""

    row: RowUnderWay
    line: OutputLine


class RunContext(Struct, frozen=True, kw_only=True):
    """What all batches of a process are run with."""

    core: Collaborators
    store: BatchStore
    calls: RowCalls
    pace: Pace
    settings: Callable[[], BatchSettings]


class BatchRun:
    """A batch that this process runs, up to the point where no row is under way any more."""

    def __init__(
        self, context: RunContext, batch: Batch, lease: Lease, folder: BatchFolder
    ) -> None:
        self.batch, self.lease, self.folder = batch, lease, folder
        self._context = context
        self._place = Place(batch.next_line, batch.next_position)
        self._completed, self._failed, self._length = batch.completed, batch.failed, 0
        self._left = deque[NewRow]()
        """Rows that an earlier process had begun."""
        self._under_way: set[asyncio.Task[Settled | None]] = set()
        self._is_read = False
        """There are no more rows to begin."""
        self._is_closing = False
        self._stop = asyncio.Event()
        """No row begins, and none is sent again."""
        self._wake = asyncio.Event()
        self._looked_at = monotonic()
        self._logged_at = context.core.clock()
        self._trouble = FailureLog(
            log, f"Writing batch {batch.id}", "No row is lost; it is tried again."
        )

    def wake(self) -> None:
        """Look at the batch again now."""
        self._looked_at = _NEVER
        self._wake.set()

    def close(self) -> None:
        """Begin no more rows; ``run`` ends when those under way have ended."""
        self._is_closing = True
        self._wake.set()

    async def run(self) -> Outcome:
        """Work the rows off. Raises LeaseLost, OSError, and what the database raises; then nothing
        of it runs any more."""
        status = self.batch.status
        if status == "finalizing":
            return "done"
        file = await self._open_input()
        reader = RowReader(file, self.batch.endpoint, self._context.core.max_body)
        try:
            if status == "validating":
                status = await self._begin_batch()
            if status == "failed":
                return "failed"
            await self._take_over(reader)
            return await self._work(reader, status)
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)
            self._context.pace.forget(self.batch.id)
            reader.close()

    async def _open_input(self) -> BinaryIO:
        """Raises OSError."""
        opening = asyncio.create_task(asyncio.to_thread(self.folder.open_input))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # A thread cannot be cancelled: what it opens meanwhile is nobody's.
            with suppress(OSError):
                (await opening).close()
            raise

    async def _begin_batch(self) -> Status:
        """Check the input, unless that was done."""
        store, now = self._context.store, self._context.core.clock
        if self.batch.total is None:
            checked = await asyncio.to_thread(self._check)
            if checked.errors:
                values = {"status": "failed", "failed_at": now(), "errors": checked.errors}
                is_over = await store.change(self.lease, "status = 'validating'", **values)
                return "failed" if is_over else "cancelling"
            self.batch = replace(self.batch, total=checked.total)
        is_begun = await store.change(
            self.lease,
            "status = 'validating'",
            status="in_progress",
            in_progress_at=now(),
            total=self.batch.total,
        )
        return "in_progress" if is_begun else "cancelling"

    def _check(self) -> Checked:
        with self.folder.open_input() as file:
            checked = check_input(file, self.batch.endpoint, self._context.core.max_body)
        assert checked is not None
        return checked

    # What an earlier process has left.

    async def _take_over(self, reader: RowReader) -> None:
        """Settle the rows under way that were answered, and line up the others."""
        store = self._context.store
        rows = await store.rows(self.batch.id)
        if not rows:
            return
        parts = await store.parts(self.batch.id)
        found = await asyncio.to_thread(self._find_lines, parts, rows)
        under_way = [(row, await asyncio.to_thread(reader.read, row)) for row in rows]
        # Also those with a line: it may be of a try before the last one.
        await self._account(under_way, parts[0].ledger_id)
        settled = list[Settled]()
        for row, given in under_way:
            if row.line in found:
                settled.append(Settled(row, found[row.line]))
            elif row.kills + 1 < MOST_KILLS:
                self._left.append((replace(row, tries=row.tries + 1, kills=row.kills + 1), given))
            else:
                settled.append(Settled(row, self._error(row, given, _KILLS)))
        if settled:
            await self._write(settled)
        log.warning(
            "batch %s: %d rows were under way in a process that is gone, %d of them answered",
            *(self.batch.id, len(rows), len(found)),
        )

    def _find_lines(
        self, parts: Iterable[Part], rows: Iterable[RowUnderWay]
    ) -> dict[int, OutputLine]:
        """The lines of these rows that were appended, and not counted."""
        lines = {row_id(self.batch.id, row.line): row.line for row in rows}
        found: dict[int, OutputLine] = {}
        for part in parts:
            for text in self.folder.tail(part.generation, part.length):
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    line = read_line(text)
                    if line.id in lines:
                        found[lines[line.id]] = line
        return found

    async def _account(self, rows: Sequence[NewRow], since: int) -> None:
        """Leave a row in the ledger for each request that may have been sent and has none."""
        core, batch = self._context.core, self.batch
        # This process may have let go of the batch itself, with rows still to be written.
        await core.ledger.settle()
        ids = {request_id(batch.id, row): given for row, given in rows}
        known = await self._context.store.in_ledger(list(ids), since) if ids else set[str]()
        key = caller_of(core, batch).key
        for id, given in ids.items():
            if id not in known:
                record = RequestRecord(id, batch.endpoint, "", core.clock(), key)
                record.model = given.model[:MAX_NAME]
                record.failed(Unavailable(_GONE, code=INTERRUPTED))
                record.over = record.begun
                core.ledger.record(record)

    # Rows.

    async def _work(self, reader: RowReader, status: Status) -> Outcome:
        """Begin rows and settle them until nothing is left to be done, or to be waited for."""
        while True:
            self._wake.clear()
            settled = self._finished()
            outcome = self._outcome(status)
            begun, is_held = list[NewRow](), False
            if outcome is None:
                begun, is_held = await self._next_rows(reader)
            else:
                self._stop.set()
            if settled or begun:
                status = await self._write(settled, [row for row, _ in begun])
                if status == "in_progress":
                    self._start(begun)
            elif monotonic() - self._looked_at >= LOOK_AFTER:
                status = await self._look()
            outcome = self._outcome(status)
            if not self._under_way:
                if outcome is not None:
                    return outcome
                if self._is_read and not self._left:
                    raise RuntimeError("The input has fewer rows than it had")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY if is_held else LOOK_AFTER):
                    await self._wake.wait()

    def _outcome(self, status: Status) -> Outcome | None:
        """Why no row is to begin; ``None`` while some are."""
        if status == "cancelling":
            return "cancelled"
        if self._completed + self._failed >= (self.batch.total or 0):
            return "done"
        if self._context.core.clock() >= self.batch.expires_at:
            return "expired"
        return "left" if self._is_closing else None

    async def _next_rows(self, reader: RowReader) -> tuple[list[NewRow], bool]:
        """The rows that begin now, and whether more have to wait for others' sake."""
        context = self._context
        free = context.settings().rows_at_once - len(self._under_way)
        if free <= 0 or (self._is_read and not self._left):
            return [], False
        admitted = context.pace.admit(self.batch.id, free)
        rows = [self._left.popleft() for _ in range(min(admitted, len(self._left)))]
        if (wanted := admitted - len(rows)) and not self._is_read:
            more, self._place = await asyncio.to_thread(reader.take, self._place, wanted)
            self._is_read = len(more) < wanted
            rows += more
        context.pace.give_back(admitted - len(rows))
        return rows, admitted < free

    def _start(self, rows: Iterable[NewRow]) -> None:
        for row, given in rows:
            task = asyncio.create_task(self._serve(row, given))
            task.add_done_callback(lambda _: self._wake.set())
            self._under_way.add(task)

    async def _serve(self, row: RowUnderWay, given: InputRow) -> Settled | None:
        """Send a row until it has an answer that stands; ``None`` when it is given up before."""
        context, batch, body = self._context, self.batch, bytes(given.body)
        while True:
            try:
                answer = await context.calls.call(batch, body, request_id(batch.id, row))
            except Exception:
                log.exception("a row of batch %s failed", batch.id)
                return Settled(row, self._error(row, given, _FAILED))
            wait = wait_of(answer)
            if wait is None:
                line = answer_line(row_id(batch.id, row.line), given.custom_id, answer)
                return Settled(row, line)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._stop.wait()
            if self._stop.is_set():
                return None
            row = replace(row, tries=row.tries + 1)
            await context.store.retry(self.lease, row)

    def _error(self, row: RowUnderWay, given: InputRow, message: str) -> OutputLine:
        return error_line(row_id(self.batch.id, row.line), given.custom_id, "api_error", message)

    def _finished(self) -> list[Settled]:
        """The rows that have ended since. Raises what one of them has raised."""
        over = {task for task in self._under_way if task.done()}
        self._under_way -= over
        results = (task.result() for task in over)
        return [settled for settled in results if settled is not None]

    # Writing.

    async def _write(self, settled: Sequence[Settled], begun: Sequence[RowUnderWay] = ()) -> Status:
        """Settle rows and note others as begun; tries again where the disk takes nothing."""
        lines = [write_line(each.line) for each in settled]
        completed = sum(each.line.is_success for each in settled)
        failed = len(settled) - completed
        while True:
            try:
                length = self._length
                if lines:
                    append = self.folder.append
                    length = await asyncio.to_thread(
                        append, self.lease.generation, self._length, lines
                    )
                step = Step(
                    completed=self._completed + completed,
                    failed=self._failed + failed,
                    length=length,
                    settled=[each.row.line for each in settled],
                    begun=begun,
                    next_line=self._place.line,
                    next_position=self._place.position,
                )
                status = await self._context.store.step(self.lease, step)
            except (OSError, StorageFull, StorageUnavailable) as error:
                self._trouble.met(error)
                await asyncio.sleep(RETRY_AFTER)
                continue
            self._trouble.over()
            self._completed, self._failed = step.completed, step.failed
            self._length = length
            self._log_progress()
            return status

    async def _look(self) -> Status:
        """The state that the batch has now. Raises LeaseLost."""
        self._looked_at = monotonic()
        batch = await self._context.store.get(self.batch.id)
        if batch is None or batch.generation != self.lease.generation:
            raise LeaseLost
        return batch.status

    def _log_progress(self) -> None:
        now = self._context.core.clock()
        if now - self._logged_at >= LOG_AFTER:
            self._logged_at = now
            log.info(
                "batch %s: %d of %d rows are done, %d of them failed",
                *(self.batch.id, self._completed + self._failed, self.batch.total, self._failed),
            )


_NEVER = float("-inf")
_GONE = "The gateway ended before this request was accounted for"
_KILLS = f"The gateway ended {MOST_KILLS} times while this request was under way"
_FAILED = "The request failed"
