"""What a plugin keeps under names, sealed and bounded; what was not used for longest goes first.

```text
Shelf ── seals ──▶ FileContents    a database of its own below the plugin's folder
             └───▶ SharedContents  what gateways keep together (SharedState)
```

Nothing here has to last: what cannot be read is not there, and what cannot be kept is dropped.
"""

import asyncio
import hmac
import logging
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from gateway_core import GatewayError, SharedState
from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.database import Database
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.vault import Vault

TABLE = "kept"
OVERHEAD = 256
"""Bytes that each content counts for besides its own: its name, its row, its place in indexes."""
MOST_NAMES = 20_000
"""Shared contents that one process remembers to have kept."""
EVICTED_AT_ONCE = 500
_SCHEMA = (
    "PRAGMA synchronous = NORMAL",  # A power cut may take the last contents, and breaks nothing.
    """CREATE TABLE IF NOT EXISTS kept
    (name TEXT PRIMARY KEY, content TEXT, size BIGINT, until DOUBLE PRECISION, used BIGINT)""",
    "CREATE INDEX IF NOT EXISTS kept_used ON kept (used, size)",
    "CREATE INDEX IF NOT EXISTS kept_until ON kept (until)",
    "CREATE TABLE IF NOT EXISTS total (bytes BIGINT)",
    "INSERT INTO total SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM total)",
    """CREATE TRIGGER IF NOT EXISTS kept_added AFTER INSERT ON kept
    BEGIN UPDATE total SET bytes = bytes + new.size; END""",
    """CREATE TRIGGER IF NOT EXISTS kept_removed AFTER DELETE ON kept
    BEGIN UPDATE total SET bytes = bytes - old.size; END""",
)
_USED = "(SELECT COALESCE(MAX(used), 0) + 1 FROM kept)"
_FIND = "SELECT content FROM kept WHERE name = :name AND until > :now"
_TOUCH = f"UPDATE kept SET used = {_USED} WHERE name = :name"
_KEEP = (
    "INSERT INTO kept (name, content, size, until, used) "
    f"VALUES (:name, :content, :size, :until, {_USED})"
)
# The rows before which less than the excess has gone.
_EVICT = """
    DELETE FROM kept WHERE rowid IN (
        SELECT id FROM (
            SELECT rowid AS id, size, SUM(size) OVER (ORDER BY used, rowid) AS gone
            FROM (SELECT rowid, used, size FROM kept ORDER BY used LIMIT :most)
        ) WHERE gone - size < :excess
    )
"""

log = logging.getLogger(__name__)


class Contents(Protocol):
    """Sealed texts under names."""

    async def find(self, name: str) -> str | None: ...

    async def keep(self, name: str, content: str, *, seconds: float, most: int) -> None:
        """Keep it for a while, and no more than ``most`` bytes in all."""


class Shelf:
    """Texts that a plugin keeps under names. Neither can be read where they are kept."""

    def __init__(self, plugin: str, vault: Vault, contents: Contents) -> None:
        self._plugin, self._contents = plugin, contents
        self._seal = vault.seal_for("kept contents")
        self._key = vault.key_for("names of kept contents")

    async def find(self, name: str) -> str | None:
        """What is kept under a name; it may be gone at any time."""
        hidden = self._hide(name)
        sealed = await self._contents.find(hidden)
        if sealed is None:
            return None
        try:
            return self._seal.open(sealed, table=TABLE, column=self._plugin, row=hidden)
        except SealBroken:
            log.warning("plugin %s: what it kept cannot be opened, and is left out", self._plugin)
            return None

    async def keep(self, name: str, text: str, *, seconds: float, most: int) -> None:
        """Keep a text for a while, and no more than ``most`` bytes of all of the plugin's."""
        hidden = self._hide(name)
        sealed = self._seal.close(text, table=TABLE, column=self._plugin, row=hidden)
        if len(sealed) + OVERHEAD <= most:
            await self._contents.keep(hidden, sealed, seconds=seconds, most=most)

    def _hide(self, name: str) -> str:
        # A plain hash of something short, such as a question, could be guessed.
        return hmac.digest(self._key, f"{self._plugin} {name}".encode(), "sha256").hex()


class FileContents:
    """In a database of their own, which several processes may use."""

    def __init__(
        self, path: Path, clock: Callable[[], float], discard: Callable[[Path], None]
    ) -> None:
        """``discard`` removes the database, which is damaged."""
        self._path, self._clock, self._discard = path, clock, discard
        self._opening: asyncio.Task[Database] | None = None
        self._is_closed = False
        self._trouble = FailureLog(log, f"Keeping contents in {path}", "They are not kept.")

    async def find(self, name: str) -> str | None:
        database = await self._open()
        if database is None:
            return None
        try:
            rows = await database.fetch(_FIND, name=name, now=self._clock())
            if rows:
                await database.execute(_TOUCH, name=name)
        except GatewayError as error:
            self._trouble.met(error)
            return None
        return rows[0]["content"] if rows else None

    async def keep(self, name: str, content: str, *, seconds: float, most: int) -> None:
        database = await self._open()
        if database is None:
            return
        now, size = self._clock(), len(content) + OVERHEAD
        try:
            async with database.transaction() as transaction:
                await transaction.execute(
                    "DELETE FROM kept WHERE name = :name OR until <= :now", name=name, now=now
                )
                rows = await transaction.fetch("SELECT bytes FROM total")
                excess: int = rows[0]["bytes"] + size - most
                while excess > 0:
                    await transaction.execute(_EVICT, excess=excess, most=EVICTED_AT_ONCE)
                    rows = await transaction.fetch("SELECT bytes FROM total")
                    excess = rows[0]["bytes"] + size - most
                await transaction.execute(
                    _KEEP, name=name, content=content, size=size, until=now + seconds
                )
            self._trouble.over()
        except GatewayError as error:
            self._trouble.met(error)

    async def aclose(self) -> None:
        self._is_closed = True
        if self._opening is not None:
            with suppress(Exception):
                await (await self._opening).close()

    async def _open(self) -> Database | None:
        """The database; ``None`` where it cannot be used."""
        if self._is_closed:
            return None
        if self._opening is None:
            self._opening = asyncio.create_task(self._connect())
        try:
            # Whoever leaves while it is being opened leaves it to the others.
            return await asyncio.shield(self._opening)
        except Exception as error:
            self._trouble.met(error)
            return None

    async def _connect(self) -> Database:
        try:
            database: Database = await open_sqlite(self._path)
        except DatabaseUnusable:
            log.warning("%s is damaged and is begun anew", self._path)
            self._discard(self._path)
            database = await open_sqlite(self._path)
        for statement in _SCHEMA:
            await database.execute(statement)
        return database


class SharedContents:
    """Where all gateways find them. Each bounds what it has kept there itself."""

    def __init__(self, shared: SharedState, clock: Callable[[], float]) -> None:
        self._shared, self._clock = shared, clock
        self._kept: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """Size and end of what this process has kept, what was used last at the end."""
        self._bytes = 0

    async def find(self, name: str) -> str | None:
        content = await self._shared.find(name)
        if content is None:
            return None
        if name in self._kept:
            self._kept.move_to_end(name)
        return content.decode()

    async def keep(self, name: str, content: str, *, seconds: float, most: int) -> None:
        now, size = self._clock(), len(content) + OVERHEAD
        self._forget(name)
        while self._kept and (self._bytes + size > most or len(self._kept) >= MOST_NAMES):
            oldest = next(iter(self._kept))
            if self._kept[oldest][1] > now:
                self._shared.discard(oldest)
            self._forget(oldest)
        self._kept[name] = (size, now + seconds)
        self._bytes += size
        self._shared.keep(name, content.encode(), seconds)

    def _forget(self, name: str) -> None:
        self._bytes -= self._kept.pop(name, (0, 0.0))[0]
