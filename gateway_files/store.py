"""Files on disk: each has a folder with its content and its record.

```text
DATA_DIR/files/                            0700
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
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import msgspec
from msgspec import Struct

from gateway_core.config.data_dir import (
    PRIVATE_DIRECTORY,
    PRIVATE_FILE,
    lock_exclusively,
    sync_directory,
)

from .errors import FileTooLarge, QuotaExceeded
from .ids import SortableIds, is_id
from .index import Index, State
from .record import CONTENT, META, FileRecord, read_record

FOLDER = "files"
"""Below the data directory."""
LOCK, CHANGES = ".lock", ".changes"
LOCAL = "local"
"""The owner of files of callers without a key."""


class FileLimits(Struct, frozen=True, kw_only=True):
    """What an owner may have."""

    largest: int
    """Bytes of one file."""
    quota: int
    """Bytes of all of them."""
    most: int
    """Files."""


class Page(NamedTuple):
    """A part of a list of files."""

    records: list[FileRecord]
    has_more: bool


class FileStore:
    """The files of all owners. Its methods block for the disk, and may be called by any thread."""

    def __init__(
        self, data_dir: Path, limits: Callable[[], FileLimits], clock: Callable[[], float]
    ) -> None:
        """Make the folder, if it is not there. Raises OSError."""
        self._folder = data_dir / FOLDER
        self._parts = self._folder / ".parts"
        for folder in (self._folder, self._parts):
            folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        self._limits, self._clock = limits, clock
        self._ids = SortableIds(clock)
        self._index = Index(self._folder)
        self._threads = threading.RLock()
        self._reserved: Counter[str] = Counter()
        """Bytes that this process is writing, by their owner."""

    def find(self, owner: str, file_id: str) -> FileRecord | None:
        """A file of this owner; ``None`` for another one's, too."""
        if not is_id(file_id):
            return None
        record = read_record(self._folder / file_id)
        if record is None or record.owner != owner or record.is_expired(self._clock()):
            return None
        return record

    def path(self, record: FileRecord) -> Path:
        """Where its content is. An open content stays readable when the file is deleted."""
        return self._folder / record.id / CONTENT

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
                if not _is_being_written(folder):
                    shutil.rmtree(folder, ignore_errors=True)

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
        """Nobody else, here or in another process, changes which files there are."""
        with self._threads:
            flags = os.O_RDWR | os.O_CREAT
            lock = os.open(self._folder / LOCK, flags, PRIVATE_FILE)
            try:
                lock_exclusively(lock, wait=True)
                yield
            finally:
                os.close(lock)


class FileWriter:
    """A file that is being written; nobody sees it before ``finish``.

    Its methods block, so whoever writes much calls them in a thread, one at a time.
    """

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
        self.owner, self.filename, self.purpose = owner, filename, purpose
        self.expires_after: int | None = None
        """Seconds, from the moment in which it is finished."""
        self.size = 0
        self.folder = folder
        self._store, self._limits, self._content = store, limits, content
        self._is_open = True
        # A cancelled upload is abandoned while a thread may still be writing for it, and the number
        # of a closed descriptor is soon that of another file.
        self._using = threading.RLock()

    def describe(self, filename: str, purpose: str, expires_after: int | None = None) -> None:
        """Change what its record will be, for a form that names it behind its content."""
        self.filename, self.purpose, self.expires_after = filename, purpose, expires_after

    def write(self, data: bytes) -> None:
        """Raises FileTooLarge, QuotaExceeded, OSError, and ValueError once it is abandoned."""
        with self._using:
            self._check_open()
            size = self.size + len(data)
            if size > self._limits.largest:
                raise FileTooLarge(self._limits.largest)
            self._store.reserve(self.owner, len(data), self._limits.quota)
            self.size = size
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._content, rest) :]

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes of what was written, from ``offset`` on."""
        with self._using:
            self._check_open()
            return os.pread(self._content, length, offset)

    def finish(self) -> FileRecord:
        """Put it in its place; once this returns, it is on disk. Raises QuotaExceeded, OSError, and
        leaves nothing behind then."""
        with self._using:
            self._check_open()
            try:
                os.fsync(self._content)
                return self._store.put(self, self._limits)
            finally:
                self.abandon()

    def abandon(self) -> None:
        """Leave nothing behind. Does nothing once it is finished or abandoned."""
        with self._using:
            if not self._is_open:
                return
            self._is_open = False
            os.close(self._content)
            self._store.release(self.owner, self.size)
            # A finished one is no longer here.
            shutil.rmtree(self.folder, ignore_errors=True)

    close = abandon
    """As the file of a form."""

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError("the file is finished or abandoned")


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
