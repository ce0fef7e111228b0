"""Finished requests that are not in the database yet, in files that outlive a killed process.

```text
row ──append──▶ DATA_DIR/db/journal/NAME-BEGIN.jsonl
 └──▶ the ledger's next batch ──▶ one transaction: rows and mark
```

A journal is one process's. Its position counts the bytes that were ever appended to it; a mark
is the position behind the last row that is in the database. The mark is stored in the
transaction that writes the rows, so whoever reads the journal after a kill adds each row once.
A journal is a row of segments, each named by the position where it begins; a segment whose rows
are all in the database is removed.

Nothing is synced to the disk: a write survives the process, which is what a journal is for. The
database's own commits survive the machine.
"""

import errno
import logging
import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from ..config.data_dir import PRIVATE_FILE, lock_exclusively
from ..config.errors import DatabaseUnusable
from .errors import StorageFull, StorageUnavailable
from .failure_log import FailureLog
from .stores.usage import Mark, UsageRecord, UsageStore

SEGMENT = 1024 * 1024
"""Bytes after which the next segment begins."""
AT_ONCE = 500
"""Rows that are recovered in one transaction."""
_SUFFIX = ".jsonl"
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_encode = msgspec.json.Encoder().encode_lines
_decode = msgspec.json.Decoder(UsageRecord).decode

log = logging.getLogger(__name__)


class Segment(Struct, frozen=True):
    """An open file of a journal."""

    begin: int
    """The position of its first byte."""
    file: BinaryIO


class Journal:
    """The journal that this process appends to. ``close`` removes it."""

    def __init__(self, folder: Path, name: str) -> None:
        """``name`` is no other journal's. Raises DatabaseUnusable."""
        self.name = name
        self.end = 0
        """The position behind the last row."""
        self._folder = folder
        # Locked before there is a segment: to other processes a journal without a lock is one
        # whose process is gone.
        try:
            self._lock = _lock(folder, name)
        except OSError as error:
            raise DatabaseUnusable(
                f"{folder} cannot be written to: {error.strerror}. "
                "Make room there, and see that the gateway may write to it."
            ) from error
        self._written = 0
        self._file: int | None = None
        self._segments: list[tuple[int, Path]] = []
        """The files, each with the position where it begins."""
        self._is_failing = False
        self._trouble = FailureLog(
            log, "Writing the usage journal", "Rows that wait are lost if the process is killed."
        )

    def append(self, row: UsageRecord) -> int:
        """Append a row with one write, and give the position behind it. Never raises for a file
        that cannot be written: ``end`` stays as it is then, and the row is in memory alone."""
        line = _encode((row,))
        try:
            if self._file is None or self.end - self._segments[-1][0] >= SEGMENT:
                self._file = self._next_segment()
            # write(2): a disk that gets full takes a part.
            if os.write(self._file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._fail(error)
            return self.end
        if self._is_failing:
            self._is_failing = False
            self._trouble.over()
        self.end += len(line)
        return self.end

    def rows_after(self, position: int) -> Iterator[tuple[UsageRecord, int]]:
        """The rows behind a position that is not released, as ``rows_after``. Raises OSError."""
        return _rows_of_files(self._segments, position)

    def release(self, position: int) -> None:
        """Everything before a position is in the database."""
        self._written = position
        while len(self._segments) > 1 and self._segments[1][0] <= position:
            self._segments.pop(0)[1].unlink(missing_ok=True)

    def close(self) -> bool:
        """Remove the journal, unless rows of it are left for the next start; says which."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        os.close(self._lock)
        is_done = self._written >= self.end
        if is_done:
            _remove(self._folder, self.name)
        return is_done

    def _next_segment(self) -> int:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        path = self._folder / f"{self.name}-{self.end:016}{_SUFFIX}"
        # A segment of this name holds at most a part of a row, which was never acknowledged.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, PRIVATE_FILE)
        if not self._segments or self._segments[-1][0] != self.end:
            self._segments.append((self.end, path))
        return file

    def _fail(self, error: OSError) -> None:
        """Leave a segment whose end is unknown; the next row begins another one."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None
        self._is_failing = True
        full = StorageFull()
        full.__cause__ = error
        self._trouble.met(full if error.errno in _FULL else error)


@contextmanager
def open_journals(folder: Path, *, without: str = "") -> Iterator[Mapping[str, list[Segment]]]:
    """Every journal but one, by name, with its segments in order."""
    segments: dict[str, list[Segment]] = {}
    with ExitStack() as stack:
        for path in sorted(folder.glob(f"*-*{_SUFFIX}")):
            name, _, begin = path.name.removesuffix(_SUFFIX).rpartition("-")
            if name == without or not begin.isdecimal():
                continue
            with suppress(FileNotFoundError):  # It was removed meanwhile: its rows are written.
                file = stack.enter_context(path.open("rb"))
                segments.setdefault(name, []).append(Segment(int(begin), file))
        yield segments


def rows_after(segments: list[Segment], position: int) -> Iterator[tuple[UsageRecord, int]]:
    """The rows behind a position, each with the position behind it."""
    begins = [*(segment.begin for segment in segments), None]
    for segment, (_, until) in zip(segments, pairwise(begins), strict=True):
        yield from _rows_of(segment, until, position)


def _rows_of_files(
    files: Sequence[tuple[int, Path]], position: int
) -> Iterator[tuple[UsageRecord, int]]:
    """The same, of a journal that no other process changes; one file is open at a time."""
    begins = [*(begin for begin, _ in files), None]
    first = max(0, bisect_right([begin for begin, _ in files], position) - 1)
    for (begin, path), until in zip(files[first:], begins[first + 1 :], strict=True):
        with path.open("rb") as file:
            yield from _rows_of(Segment(begin, file), until, position)


def _rows_of(
    segment: Segment, until: int | None, position: int
) -> Iterator[tuple[UsageRecord, int]]:
    """The rows of one segment behind a position; ``until`` is where the next segment begins."""
    if until is not None and until <= position:
        return
    at = max(segment.begin, position)
    segment.file.seek(at - segment.begin)
    # What stands behind the next segment's begin is part of a row that failed.
    held = segment.file.read(-1 if until is None else until - at)
    # So is an end without a line feed; its client never saw the end of the answer.
    for line in held.split(b"\n")[:-1]:
        at += len(line) + 1
        try:
            yield _decode(line), at
        except msgspec.MsgspecError as error:
            log.error("a damaged row of the usage journal is left out: %s", error)


async def recover(folder: Path, usage: UsageStore) -> None:
    """Write the rows of journals whose process is gone, and remove these journals.

    What the database does not take now is kept for the next start.
    """
    names = _names(folder)
    try:
        marks = await usage.marks()
        for name in names:
            try:
                lock = _lock(folder, name)
            except OSError:  # Its process lives, or another one recovers it.
                continue
            try:
                await _recover_one(folder, name, usage, marks.get(name, 0))
            finally:
                os.close(lock)
            _remove(folder, name)
            await usage.forget_mark(name)
    except (StorageFull, StorageUnavailable) as error:
        log.error("usage rows of an earlier process stay in %s for now: %s", folder, error)


def _names(folder: Path) -> set[str]:
    """The journals there are: each has a lock before it has a segment, and longer."""
    return {path.name.removesuffix(_LOCK) for path in folder.glob(f"*{_LOCK}")}


async def _recover_one(folder: Path, name: str, usage: UsageStore, position: int) -> None:
    rows = _rows_of_files(_files_of(folder, name), position)
    count = 0
    while some := list(islice(rows, AT_ONCE)):
        await usage.insert_many([row for row, _ in some], Mark(name, some[-1][1]))
        count += len(some)
    if count:
        log.warning("%d usage rows were recovered from the journal of a killed process", count)


def _files_of(folder: Path, name: str) -> list[tuple[int, Path]]:
    """The segments of a journal in order, each with the position where it begins."""
    begin = slice(len(name) + 1, -len(_SUFFIX))
    return [(int(path.name[begin]), path) for path in sorted(folder.glob(f"{name}-*{_SUFFIX}"))]


def _remove(folder: Path, name: str) -> None:
    for _, path in _files_of(folder, name):
        path.unlink(missing_ok=True)
    (folder / f"{name}{_LOCK}").unlink(missing_ok=True)


def _lock(folder: Path, name: str) -> int:
    """Lock a journal. Raises OSError."""
    lock = os.open(folder / f"{name}{_LOCK}", os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    try:
        lock_exclusively(lock)
    except OSError:
        os.close(lock)
        raise
    return lock
