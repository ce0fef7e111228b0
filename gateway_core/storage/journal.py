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
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
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
        that cannot be written: the row then waits in memory alone."""
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

    def release(self, position: int) -> None:
        """Everything before a position is in the database."""
        self._written = position
        while len(self._segments) > 1 and self._segments[1][0] <= position:
            self._segments.pop(0)[1].unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the journal, unless rows of it are left for the next start."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        os.close(self._lock)
        if self._written >= self.end:
            _remove(self._folder, self.name)

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
    found: dict[str, list[Segment]] = {}
    with ExitStack() as stack:
        for path in sorted(folder.glob(f"*-*{_SUFFIX}")):
            name, _, begin = path.name.removesuffix(_SUFFIX).rpartition("-")
            if name == without or not begin.isdecimal():
                continue
            with suppress(FileNotFoundError):  # It was removed meanwhile: its rows are written.
                file = stack.enter_context(path.open("rb"))
                found.setdefault(name, []).append(Segment(int(begin), file))
        yield found


def rows_after(segments: list[Segment], position: int) -> Iterator[tuple[UsageRecord, int]]:
    """The rows behind a position, each with the position behind it."""
    begins = [*(segment.begin for segment in segments), None]
    for segment, (begin, until) in zip(segments, pairwise(begins), strict=True):
        assert begin is not None
        if until is not None and until <= position:
            continue
        at = max(begin, position)
        segment.file.seek(at - begin)
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
        await usage.forget_marks(marks.keys() - names)
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
    except (StorageFull, StorageUnavailable) as error:
        log.error("usage rows of an earlier process stay in %s for now: %s", folder, error)


def _names(folder: Path) -> set[str]:
    """The journals there are: each has a lock before it has a segment, and longer."""
    return {path.name.removesuffix(_LOCK) for path in folder.glob(f"*{_LOCK}")}


async def _recover_one(folder: Path, name: str, usage: UsageStore, position: int) -> None:
    with open_journals(folder) as journals:
        rows = list(rows_after(journals.get(name, []), position))
    for begin in range(0, len(rows), AT_ONCE):
        some = rows[begin : begin + AT_ONCE]
        await usage.insert_many([row for row, _ in some], Mark(name, some[-1][1]))
    if rows:
        log.warning("%d usage rows were recovered from the journal of a killed process", len(rows))


def _remove(folder: Path, name: str) -> None:
    for path in folder.glob(f"{name}-*{_SUFFIX}"):
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
