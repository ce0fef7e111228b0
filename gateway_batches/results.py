"""What becomes of a batch when no row of it is under way any more: its results, and its last state.

Results are complete before the state says so. A process that is killed in between does it again.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gateway_files.kept_elsewhere import AnyStore
from gateway_files.record import FileRecord

from .batch import Batch, BatchError, RowUnderWay, row_id
from .batch_file import ERRORS, OUTPUT, BatchFile, file_name
from .folder import BatchFolder
from .input_rows import Place, RowReader
from .output_lines import CANCELLED, EXPIRED, error_line, read_line, write_line
from .runner import Outcome
from .store import BatchStore, Lease, Part

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
        files: AnyStore,
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
        else:
            await self._forget_input(batch)
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
        if batch is not None:
            with suppress(OSError):  # Without its files there is nothing to give.
                if batch.surface == "completions":
                    await self._export(batch, await self._store.parts(batch.id))
                else:
                    await self._forget_input(batch)
        await self._store.change(self._lease, status="failed", failed_at=now, errors=(error,))

    async def _forget_input(self, batch: Batch) -> None:
        """Requests that came with their batch no longer count as a file of its owner."""
        if batch.input_file_id is not None:
            await asyncio.to_thread(self._files.delete, batch.owner, batch.input_file_id)

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
        output = BatchFile(self._files, batch, OUTPUT, "output")
        errors = BatchFile(self._files, batch, ERRORS, "error")
        try:
            for text in self._folder.settled(parts):
                has_answer = read_line(text).response is not None
                (output if has_answer else errors).write(text)
            return _id_of(output.finish()), _id_of(errors.finish())
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


def _id_of(record: FileRecord | None) -> str | None:
    return None if record is None else record.id
