"""Files on disk: each has a folder with its content and its record.

```text
FILES_DIR/files/                           0700
  <id>/{content,meta.json}                 a file, complete from its first moment
  .parts/<random>/content                  one that is being written, and locked by who writes it
  .lock                                    held for the moment in which a file comes or goes
  .changes                                 how often one did
```

A writer's folder is moved to its place once everything in it is on disk, so a file is there whole
or not at all. What a killed process leaves in ``.parts`` has no lock, and is removed by the next
start. Several processes may have a store of the same folder.
"""

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import msgspec

from gateway_core.config.data_dir import (
    PRIVATE_DIRECTORY,
    PRIVATE_FILE,
    lock_exclusively,
    sync_directory,
)

from .disk import DiskReader
from .errors import QuotaExceeded
from .ids import SortableIds, is_id
from .index import Index, State, Usage
from .ranges import Span
from .record import CONTENT, META, FileRecord, read_record
from .unfinished import FileLimits, UnfinishedFile

FOLDER = "files"
"""Below the folder for files and batches."""
LOCK, CHANGES = ".lock", ".changes"
LEFT_BEHIND = 3600.0
"""Seconds after which a part is not being written any more by another machine."""
LOCAL = "local"
"""The owner of files of callers without a key."""


Exclusion = Callable[[], AbstractContextManager[None]]


class Page(NamedTuple):
    """A part of a list of files."""

    records: list[FileRecord]
    has_more: bool


class FileStore:
    """The files of all owners. Its methods block for the disk, and may be called by any thread."""

    def __init__(
        self,
        place: Path,
        limits: Callable[[], FileLimits],
        clock: Callable[[], float],
        exclusion: Exclusion | None = None,
    ) -> None:
        """Make the folder in that place, if it is not there. ``exclusion`` keeps stores of other
        machines out, in any thread but the event loop's. Raises OSError."""
        self._folder = place / FOLDER
        self._parts = self._folder / ".parts"
        for folder in (self._folder, self._parts):
            folder.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        self._exclusion = exclusion
        self._limits, self._clock = limits, clock
        self._ids = SortableIds(clock)
        self._index = Index(self._folder)
        self._threads = threading.RLock()
        self._reserved: Counter[str] = Counter()
        """Bytes that this process is writing, by their owner."""

    def find(self, owner: str, file_id: str) -> FileRecord | None:
        """A file of this owner; ``None`` for another one's, too."""
        record = self.get(file_id)
        return None if record is None or record.owner != owner else record

    def get(self, file_id: str) -> FileRecord | None:
        """A file, whoever owns it."""
        if not is_id(file_id):
            return None
        record = read_record(self._folder / file_id)
        return None if record is None or record.is_expired(self._clock()) else record

    def all(self) -> list[FileRecord]:
        """The files of every owner, newest first."""
        now = self._clock()
        with self._threads:
            self._sync()
            records = [record for record in self._index.all() if not record.is_expired(now)]
        records.sort(key=_by_id, reverse=True)
        return records

    def usages(self) -> Mapping[str, Usage]:
        """What each owner has. An expired file counts until it is removed."""
        with self._threads:
            self._sync()
            return self._index.usages()

    def path(self, record: FileRecord) -> Path:
        """Where its content is. An open content stays readable when the file is deleted."""
        return self._folder / record.id / CONTENT

    def open(self, record: FileRecord, span: Span) -> DiskReader:
        """A part of its content. Raises FileNotFoundError, OSError."""
        return DiskReader(self.path(record), span)

    def copy(self, record: FileRecord, path: Path) -> None:
        """Give its content a second name, or copy it there. Raises FileNotFoundError, OSError."""
        try:
            os.link(self.path(record), path)
        except FileNotFoundError:
            raise
        except OSError:  # A file system without hard links.
            shutil.copyfile(self.path(record), path)

    def page(
        self,
        owner: str,
        *,
        purpose: str | None = None,
        after: str | None = None,
        before: str | None = None,
        limit: int,
        is_ascending: bool = False,
    ) -> Page:
        """Files of an owner, newest first unless ascending, ``after`` one id or ``before`` one.

        Neither of the two has to exist any longer.
        """
        now = self._clock()
        with self._threads:
            self._sync()
            records = [
                record
                for record in self._index.of(owner).values()
                if purpose in (None, record.purpose) and not record.is_expired(now)
            ]
        records.sort(key=_by_id, reverse=not is_ascending)
        if after is not None:
            records = [r for r in records if (r.id > after if is_ascending else r.id < after)]
        elif before is not None:
            # The page that ends before this one, not the list's first.
            records = [r for r in records if (r.id < before if is_ascending else r.id > before)]
            return Page(records[-limit:], len(records) > limit)
        return Page(records[:limit], len(records) > limit)

    def create(self, owner: str, filename: str, purpose: str) -> "FileWriter":
        """Begin to write a file. Raises QuotaExceeded, OSError."""
        limits = self._limits()
        self.remove_expired()
        with self._locked():
            self._sync()
            if self._index.usage(owner).files >= limits.most:
                raise QuotaExceeded(limits.most, "files")
            folder = self._parts / token_hex(12)
            folder.mkdir(mode=PRIVATE_DIRECTORY)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            content = os.open(folder / CONTENT, flags, PRIVATE_FILE)
            lock_exclusively(content)
        return FileWriter(self, owner, filename, purpose, limits, folder, content)

    def delete(self, owner: str, file_id: str) -> bool:
        """Delete a file of this owner; false when there is none."""
        with self._locked():
            record = self.find(owner, file_id)
            if record is not None:
                self._sync()
                self._remove(record)
        return record is not None

    def remove_expired(self) -> None:
        """Delete the files whose time is up."""
        with self._threads:
            self._sync()
            expired = self._index.expired(self._clock())
        if expired:
            with self._locked():
                self._sync()
                for record in expired:
                    self._remove(record)

    def clean(self) -> None:
        """Remove what processes that were killed had begun to write, or to delete."""
        with self._locked():
            for folder in self._parts.iterdir():
                if not (_is_being_written(folder) or self._may_be_written(folder)):
                    shutil.rmtree(folder, ignore_errors=True)

    def _may_be_written(self, folder: Path) -> bool:
        """Whether another machine may be at it, whose lock is not seen here."""
        if self._exclusion is None:
            return False
        with suppress(FileNotFoundError):
            return time.time() - (folder / CONTENT).stat().st_mtime < LEFT_BEHIND
        return False

    # What follows is called by writers.

    def reserve(self, owner: str, size: int, quota: int) -> None:
        """Count bytes that are about to be written. Raises QuotaExceeded."""
        with self._threads:
            if self._index.usage(owner).bytes + self._reserved[owner] + size > quota:
                raise QuotaExceeded(quota, "bytes")
            self._reserved[owner] += size

    def release(self, owner: str, size: int) -> None:
        with self._threads:
            self._reserved[owner] -= size
            if not self._reserved[owner]:
                del self._reserved[owner]

    def put(self, writer: "FileWriter", limits: FileLimits) -> FileRecord:
        """Give a complete folder its id and its place. Raises QuotaExceeded, OSError."""
        now = int(self._clock())
        with self._threads:
            id = self._ids.new("file")
        record = FileRecord(
            id=id,
            bytes=writer.size,
            created_at=now,
            filename=writer.filename,
            purpose=writer.purpose,
            owner=writer.owner,
            expires_at=None if writer.expires_after is None else now + writer.expires_after,
        )
        _write_whole(writer.folder / META, msgspec.json.encode(record))
        sync_directory(writer.folder)
        with self._locked():
            self._sync()
            # Other processes may have written meanwhile: each knows only what is complete.
            used = self._index.usage(writer.owner)
            if used.bytes + record.bytes > limits.quota:
                raise QuotaExceeded(limits.quota, "bytes")
            if used.files >= limits.most:
                raise QuotaExceeded(limits.most, "files")
            writer.folder.rename(self._folder / id)
            self._index.add(record)
            self._count_change()
        sync_directory(self._folder)
        return record

    def _remove(self, record: FileRecord) -> None:
        """Take a folder out of its place at once, then apart."""
        gone = self._parts / token_hex(12)
        with suppress(FileNotFoundError):
            (self._folder / record.id).rename(gone)
            sync_directory(self._folder)
        self._index.remove(record.id)
        self._count_change()
        shutil.rmtree(gone, ignore_errors=True)

    def _sync(self) -> None:
        self._index.sync(self._state())

    def _state(self) -> State:
        # Counted behind each change, so a state is never newer than what is read after it.
        changes = 0
        with suppress(FileNotFoundError):
            changes = int.from_bytes((self._folder / CHANGES).read_bytes())
        return State(changes, self._folder.stat().st_mtime_ns)

    def _count_change(self) -> None:
        """To be called while the lock is held, with the index in step with the folder."""
        changes = (self._state().changes + 1).to_bytes(8)
        descriptor = os.open(self._folder / CHANGES, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
        try:
            os.write(descriptor, changes)
        finally:
            os.close(descriptor)
        self._index.skip(self._state())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else, here, in another process or on another machine, changes which files there
        are."""
        with self._threads:
            flags = os.O_RDWR | os.O_CREAT
            lock = os.open(self._folder / LOCK, flags, PRIVATE_FILE)
            try:
                lock_exclusively(lock, wait=True)
                with nullcontext() if self._exclusion is None else self._exclusion():
                    yield
            finally:
                os.close(lock)


class FileWriter(UnfinishedFile):
    """One that is written to the disk."""

    def __init__(
        self,
        store: FileStore,
        owner: str,
        filename: str,
        purpose: str,
        limits: FileLimits,
        folder: Path,
        content: int,
    ) -> None:
        """``content`` is the descriptor of the open file in ``folder``."""
        super().__init__(owner, filename, purpose, limits)
        self.folder = folder
        self._store, self._content = store, content

    def read(self, offset: int, length: int) -> bytes:
        with self._open():
            return os.pread(self._content, length, offset)

    def finish(self) -> FileRecord:
        with self._open():
            try:
                os.fsync(self._content)
                return self._store.put(self, self.limits)
            finally:
                self.abandon()

    def _reserve(self, size: int) -> None:
        self._store.reserve(self.owner, size, self.limits.quota)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._content, rest) :]

    def _discard(self) -> None:
        os.close(self._content)
        self._store.release(self.owner, self.size)
        # A finished one is no longer here.
        shutil.rmtree(self.folder, ignore_errors=True)


def _by_id(record: FileRecord) -> str:
    return record.id


def _write_whole(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _is_being_written(folder: Path) -> bool:
    """Whether a living process has its content locked."""
    try:
        content = os.open(folder / CONTENT, os.O_RDWR)
    except OSError:
        return False
    try:
        lock_exclusively(content)
    except OSError:
        return True
    finally:
        os.close(content)
    return False
