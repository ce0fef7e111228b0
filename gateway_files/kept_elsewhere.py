"""AnyStore whose contents a plugin keeps: each is a row in the database, and a content by its key.

```text
create   the row, without an id               nobody sees the file; its owner's writes are counted
finish   the content is complete; then, in one transaction, the quota, and the row gets its id
delete   the row loses its id; the content is removed; the row is deleted
```

So no content is without a row. What a killed process was writing, and what could not be removed
while the contents were away, has a row without an id, and is removed later. Gateways on one
database have the same files.
"""

import asyncio
import io
import logging
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any, TypeVar

from gateway_core.contracts.errors import GatewayError
from gateway_core.contracts.file_contents import ContentReader, FileContents
from gateway_core.storage.database import Database, Queries, Row

from .errors import QuotaExceeded
from .ids import SortableIds, is_id
from .index import Usage
from .ranges import Span
from .record import FileRecord
from .store import FileStore, FileWriter, Page
from .unfinished import FileLimits, UnfinishedFile

ABANDONED_AFTER = 3600.0
"""Seconds after which nobody is writing a content any more, unless its row was touched since."""
TOUCH_EVERY = 600.0
MOST_REMOVED = 100
"""Contents that are removed at a time."""
PIECE = 1024 * 1024
_COLUMNS = "id, bytes, created_at, filename, purpose, owner, expires_at"
_LIVE = "id IS NOT NULL AND (expires_at IS NULL OR expires_at > :now)"
T = TypeVar("T")
log = logging.getLogger(__name__)


class KeptElsewhere:
    """The files of all owners. Its methods block for contents and database, and are called in any
    thread but the event loop's. Every one raises OSError, and what the database raises."""

    def __init__(
        self,
        contents: FileContents,
        database: Database,
        limits: Callable[[], FileLimits],
        clock: Callable[[], float],
    ) -> None:
        """To be called in the event loop."""
        self._contents, self._database = contents, database
        self._limits, self._clock = limits, clock
        self._loop = asyncio.get_running_loop()
        self._ids = SortableIds(clock)
        self._lock = threading.Lock()
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
        rows = self._fetch(f"id = :id AND {_LIVE}", id=file_id, now=self._clock())
        return FileRecord(**rows[0]) if rows else None

    def all(self) -> list[FileRecord]:
        """The files of every owner, newest first."""
        rows = self._fetch(f"{_LIVE} ORDER BY id DESC", now=self._clock())
        return [FileRecord(**row) for row in rows]

    def usages(self) -> Mapping[str, Usage]:
        """What each owner has."""
        sums = (
            "SELECT owner, CAST(sum(bytes) AS BIGINT) AS bytes, count(*) AS files "
            f"FROM files WHERE {_LIVE} GROUP BY owner"
        )
        rows = self._wait(self._database.fetch(sums, now=self._clock()))
        return {row["owner"]: Usage(row["bytes"], row["files"]) for row in rows}

    def open(self, record: FileRecord, span: Span) -> ContentReader:
        """Raises FileNotFoundError, also for a file that is deleted meanwhile."""
        if span.begin == span.end:
            return io.BytesIO()
        return self._contents.open(self._key_of(record), span.begin, span.end)

    def copy(self, record: FileRecord, path: Path) -> None:
        """Write the content to a new file. Raises FileNotFoundError."""
        reader = self.open(record, Span(0, record.bytes))
        size = 0
        try:
            with path.open("xb") as file:
                while piece := reader.read(PIECE):
                    size += file.write(piece)
        finally:
            reader.close()
        if size != record.bytes:
            raise OSError("the content of a file is shorter than it was")

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
        """As of a folder's files."""
        # A page that ends before an id is read from there, against the list's order.
        is_turned = after is None and before is not None
        is_rising = is_ascending != is_turned
        conditions = ["owner = :owner", _LIVE]
        if purpose is not None:
            conditions.append("purpose = :purpose")
        edge = after if after is not None else before
        if edge is not None:
            conditions.append(f"id {'>' if is_rising else '<'} :edge")
        rows = self._fetch(
            f"{' AND '.join(conditions)} ORDER BY id {'ASC' if is_rising else 'DESC'} LIMIT :most",
            owner=owner,
            now=self._clock(),
            most=limit + 1,
            **({} if purpose is None else {"purpose": purpose}),
            **({} if edge is None else {"edge": edge}),
        )
        records = [FileRecord(**row) for row in rows[:limit]]
        return Page(records[::-1] if is_turned else records, len(rows) > limit)

    def create(self, owner: str, filename: str, purpose: str) -> "RowWriter":
        """Begin to write a file. Raises QuotaExceeded."""
        limits, key = self._limits(), token_hex(16)
        used = self._wait(self._usage(self._database, owner))
        if used.files >= limits.most:
            raise QuotaExceeded(limits.most, "files")
        self._execute(
            "INSERT INTO files (content, owner, touched_at) VALUES (:key, :owner, :now)",
            key=key,
            owner=owner,
            now=self._clock(),
        )
        return RowWriter(self, owner, filename, purpose, limits, used, key)

    def delete(self, owner: str, file_id: str) -> bool:
        """Delete a file of this owner; false when there is none."""
        return bool(self._forget("owner = :owner AND id = :id", owner=owner, id=file_id))

    def remove_expired(self) -> None:
        """Delete the files whose time is up, and what is left of others."""
        self._forget("expires_at <= :now AND id IS NOT NULL", now=self._clock())
        # From then on a writer that is still there after all cannot finish.
        self._execute(
            "UPDATE files SET touched_at = 0 WHERE id IS NULL AND touched_at < :until",
            until=self._clock() - ABANDONED_AFTER,
        )
        left = "SELECT content FROM files WHERE id IS NULL AND touched_at = 0 LIMIT :most"
        for row in self._wait(self._database.fetch(left, most=MOST_REMOVED)):
            self._remove(row["content"])

    clean = remove_expired

    def _forget(self, condition: str, **values: Any) -> int:
        """Take the ids of files away, then remove their contents, or later those that are away."""

        async def forget() -> list[Row]:
            async with self._database.transaction() as transaction:
                return await transaction.fetch(
                    f"UPDATE files SET id = NULL, touched_at = 0 WHERE {condition} "
                    "RETURNING content",
                    **values,
                )

        rows = self._wait(forget())
        for row in rows:
            try:
                self._remove(row["content"])
            except OSError as error:
                log.warning("the content of a deleted file is removed later: %s", error)
        return len(rows)

    # What follows is called by writers.

    @property
    def contents(self) -> FileContents:
        return self._contents

    def reserve(self, writer: "RowWriter", size: int, quota: int) -> None:
        """Count bytes that are about to be written. Raises QuotaExceeded."""
        with self._lock:
            if writer.used.bytes + self._reserved[writer.owner] + size > quota:
                raise QuotaExceeded(quota, "bytes")
            self._reserved[writer.owner] += size

    def release(self, owner: str, size: int) -> None:
        with self._lock:
            self._reserved[owner] -= size
            if not self._reserved[owner]:
                del self._reserved[owner]

    def touch(self, key: str) -> None:
        """Say that a content is still being written."""
        self._execute(
            "UPDATE files SET touched_at = :now WHERE content = :key AND id IS NULL",
            key=key,
            now=self._clock(),
        )

    def put(self, writer: "RowWriter", limits: FileLimits) -> FileRecord:
        """Give a complete content its id. Raises QuotaExceeded."""
        now = int(self._clock())
        with self._lock:
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

        async def put() -> None:
            # Transactions of all gateways come one after another, so the sums are those of now.
            async with self._database.transaction() as transaction:
                used = await self._usage(transaction, record.owner)
                if used.bytes + record.bytes > limits.quota:
                    raise QuotaExceeded(limits.quota, "bytes")
                if used.files >= limits.most:
                    raise QuotaExceeded(limits.most, "files")
                placed = await transaction.execute(
                    "UPDATE files SET id = :id, bytes = :bytes, created_at = :created_at, "
                    "filename = :filename, purpose = :purpose, expires_at = :expires_at "
                    "WHERE content = :key AND id IS NULL AND touched_at > 0",
                    key=writer.key,
                    id=id,
                    bytes=record.bytes,
                    created_at=now,
                    filename=record.filename,
                    purpose=record.purpose,
                    expires_at=record.expires_at,
                )
                if not placed:
                    raise OSError("the upload was given up, because it took too long")

        self._wait(put())
        return record

    def discard(self, key: str) -> None:
        """Remove what was written, also where it is not known whether it got its id."""
        self._forget("content = :key", key=key)

    def _remove(self, key: str) -> None:
        """Remove the content of a row without an id, and then the row."""
        self._contents.remove(key)
        self._execute("DELETE FROM files WHERE content = :key AND id IS NULL", key=key)

    async def _usage(self, queries: Queries, owner: str) -> Usage:
        rows = await queries.fetch(
            "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes, count(*) AS files "
            f"FROM files WHERE owner = :owner AND {_LIVE}",
            owner=owner,
            now=self._clock(),
        )
        return Usage(**rows[0])

    def _key_of(self, record: FileRecord) -> str:
        rows = self._wait(
            self._database.fetch("SELECT content FROM files WHERE id = :id", id=record.id)
        )
        if not rows:
            raise FileNotFoundError(record.id)
        key: str = rows[0]["content"]
        return key

    def _fetch(self, condition: str, **values: Any) -> list[Row]:
        sql = f"SELECT {_COLUMNS} FROM files WHERE {condition}"
        return self._wait(self._database.fetch(sql, **values))

    def _execute(self, sql: str, **values: Any) -> None:
        self._wait(self._database.execute(sql, **values))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class RowWriter(UnfinishedFile):
    """One whose content a plugin takes."""

    def __init__(
        self,
        store: KeptElsewhere,
        owner: str,
        filename: str,
        purpose: str,
        limits: FileLimits,
        used: Usage,
        key: str,
    ) -> None:
        """``used`` is what the owner has without it, ``key`` that of its row."""
        super().__init__(owner, filename, purpose, limits)
        self.used, self.key = used, key
        self._store = store
        self._content = store.contents.create(key)
        self._touched_at = monotonic()

    def read(self, offset: int, length: int) -> bytes:
        """As the file of a form, which nobody reads before it is finished."""
        raise io.UnsupportedOperation("a content that is being written cannot be read")

    def finish(self) -> FileRecord:
        with self._open():
            try:
                self._content.finish()
                record = self._store.put(self, self.limits)
            except BaseException:
                self.abandon()
                raise
            self._is_open = False
            self._release()
            return record

    def _reserve(self, size: int) -> None:
        self._store.reserve(self, size, self.limits.quota)

    def _append(self, data: bytes) -> None:
        self._content.write(data)
        if monotonic() - self._touched_at > TOUCH_EVERY:
            self._store.touch(self.key)
            self._touched_at = monotonic()

    def _discard(self) -> None:
        self._release()
        try:
            self._store.discard(self.key)
        except (OSError, GatewayError) as error:
            # Nobody touches its row any more.
            log.warning("an upload counts as abandoned after a while: %s", error)

    def _release(self) -> None:
        self._content.abandon()
        self._store.release(self.owner, self.size)


AnyStore = FileStore | KeptElsewhere
AnyWriter = FileWriter | RowWriter
