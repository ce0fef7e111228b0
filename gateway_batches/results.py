"""What becomes of a batch when no row of it is under way any more: its results, and its last state.

Results are complete before the state says so. A process that is killed in between does it again.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gateway_files.store import FileStore, FileWriter

from .batch import Batch, BatchError, RowUnderWay, row_id
from .folder import PIECE, BatchFolder
from .input_rows import Place, RowReader
from .output_lines import CANCELLED, EXPIRED, error_line, read_line, write_line
from .runner import Outcome
from .store import BatchStore, Lease, Part

OUTPUT, ERRORS = "batch_output", "batch_error"
"""Purposes of the files of results."""
_UNANSWERED = {
    "cancelled": (CANCELLED, "This request was not executed: the batch was cancelled."),
    "expired": (
        EXPIRED,
        "This request could not be executed before the completion window expired.",
    ),
}
log = logging.getLogger(__name__)


class Finisher:
    """Ends one batch under its lease."""

    def __init__(
        self,
        store: BatchStore,
        files: FileStore,
        lease: Lease,
        folder: BatchFolder,
        longest: int,
    ) -> None:
        """``longest`` is the longest row, bytes."""
        self._store, self._files, self._lease, self._folder = store, files, lease, folder
        self._longest = longest

    async def finish(self, outcome: Outcome, now: float) -> Batch:
        """Write the results and the last state. Raises LeaseLost, OSError, and what the database
        raises."""
        store, id = self._store, self._lease.batch_id
        if outcome == "done":
            is_begun = "status = 'in_progress'"
            await store.change(self._lease, is_begun, status="finalizing", finalizing_at=now)
        batch = await store.get(id)
        assert batch is not None
        if batch.status == "cancelling":
            outcome = "cancelled"
        if outcome in _UNANSWERED and batch.total is not None:
            rows = await store.rows(id)
            await asyncio.to_thread(self._write_rest, batch, rows, *_UNANSWERED[outcome])
        if batch.surface == "completions":
            await self._export(batch, await store.parts(id))
        await self._end(batch, outcome, now)
        if batch.surface == "completions":
            await asyncio.to_thread(self._folder.remove)
        else:
            await asyncio.to_thread(self._folder.remove_input)
        ended = await store.get(id)
        assert ended is not None
        log.info(
            "batch %s is %s: %d rows, %d completed, %d failed",
            *(id, ended.status, ended.total or 0, ended.completed, ended.failed),
        )
        return ended

    async def fail(self, error: BatchError, now: float) -> None:
        """End a batch that cannot go on. Raises as ``finish`` does."""
        batch = await self._store.get(self._lease.batch_id)
        if batch is not None and batch.surface == "completions":
            with suppress(OSError):  # Without its files there is nothing to give.
                await self._export(batch, await self._store.parts(batch.id))
        await self._store.change(self._lease, status="failed", failed_at=now, errors=(error,))

    async def _end(self, batch: Batch, outcome: Outcome, now: float) -> None:
        change, lease = self._store.change, self._lease
        if outcome == "cancelled":
            await change(lease, status="cancelled", cancelled_at=now)
        elif outcome == "expired":
            await change(lease, status="expired", expired_at=now)
        elif batch.completed == 0 and batch.failed > 0:
            await change(lease, status="failed", failed_at=now, completed_at=now)
        else:
            await change(lease, status="completed", completed_at=now)

    def _write_rest(
        self, batch: Batch, rows: Iterable[RowUnderWay], kind: str, message: str
    ) -> None:
        with self._folder.open_input() as file:
            reader = RowReader(file, batch.endpoint, self._longest)

            def lines() -> Iterator[bytes]:
                begun = ((row, reader.read(row)) for row in rows)
                never = reader.rows_from(Place(batch.next_line, batch.next_position))
                for source in (begun, never):
                    for row, given in source:
                        id = row_id(batch.id, row.line)
                        yield write_line(error_line(id, given.custom_id, kind, message))

            self._folder.write_rest(lines())

    async def _export(self, batch: Batch, parts: Iterable[Part]) -> None:
        """Put the results into files of the owner."""
        lengths = [(part.generation, part.length) for part in parts]
        output, errors = await asyncio.to_thread(self._write_files, batch, lengths)
        await self._store.change(self._lease, output_file_id=output, error_file_id=errors)

    def _write_files(
        self, batch: Batch, parts: list[tuple[int, int]]
    ) -> tuple[str | None, str | None]:
        """The ids of both files; a file without a line is not made."""
        self._remove_earlier(batch)
        output = _Results(self._files, batch, OUTPUT, "output")
        errors = _Results(self._files, batch, ERRORS, "error")
        try:
            for text in self._folder.settled(parts):
                has_answer = read_line(text).response is not None
                (output if has_answer else errors).write(text)
            return output.finish(), errors.finish()
        except BaseException:
            output.abandon()
            errors.abandon()
            raise

    def _remove_earlier(self, batch: Batch) -> None:
        """Remove the files of a process that was killed before it wrote down their ids."""
        for purpose, name in ((OUTPUT, "output"), (ERRORS, "error")):
            page = self._files.page(batch.owner, purpose=purpose, limit=_ALL)
            for record in page.records:
                if record.filename == file_name(batch, name):
                    self._files.delete(batch.owner, record.id)


_ALL = 2**31


def file_name(batch: Batch, name: str) -> str:
    return f"{batch.id}-{name}.jsonl"


class _Results:
    """One file of results, begun with its first line."""

    def __init__(self, files: FileStore, batch: Batch, purpose: str, name: str) -> None:
        self._files, self._batch, self._purpose, self._name = files, batch, purpose, name
        self._writer: FileWriter | None = None
        self._waiting = bytearray()

    def write(self, line: bytes) -> None:
        if self._writer is None:
            name = file_name(self._batch, self._name)
            self._writer = self._files.create(self._batch.owner, name, self._purpose)
        self._waiting += line
        if len(self._waiting) >= PIECE:
            self._writer.write(bytes(self._waiting))
            self._waiting.clear()

    def finish(self) -> str | None:
        """The file's id; ``None`` where no line was written."""
        if self._writer is None:
            return None
        self._writer.write(bytes(self._waiting))
        return self._writer.finish().id

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
