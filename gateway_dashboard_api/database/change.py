"""Moving a running gateway from SQLite to PostgreSQL, and back.

```text
probe ▶ migrations ▶ writes pause ▶ snapshot ▶ copy, compared by counts and digests
      ▶ settings ▶ switch
```

Reads go on all the while. Until the switch, SQLite is served and complete: whatever fails, it
stays. Other processes on the data directory follow when they read or write next: see ``turn``.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from gateway_core.config.database_choice import complete_url
from gateway_core.config.errors import StartRefused
from gateway_core.contracts.errors import BadRequest, Conflict, GatewayError
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.database import Database
from gateway_core.storage.journal import recover
from gateway_core.storage.migrate import packaged_migrations
from gateway_core.storage.moments import iso
from gateway_core.storage.opening import Storage, open_storage, prepare
from gateway_core.storage.selection import open_postgres_storage
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.sqlite.integrity import inspect
from gateway_core.storage.stores.keys import GROUP as KEYS
from gateway_core.storage.stores.settings import SettingsStore
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.switchable import Selection, SwitchableDatabase

from . import log
from .log import LogRow
from .source import DETAILS, Table, count, misfits, rows_of, tables_of
from .turn import Busy, Turn

T = TypeVar("T")
PREFIX = "data.sqlite.postgres-cutover-"
REPLACED = "data.sqlite.before-rollback-"
_OTHERS = """
    SELECT count(DISTINCT application_name) AS others FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'model-gateway/%'
        AND split_part(application_name, '/', 2)
            <> split_part(current_setting('application_name'), '/', 2)
"""
ROWS_A_SECOND = 15_000
"""Copied and read back, on one core of a small machine."""


class ChangeFailed(GatewayError):
    """Nothing was changed."""

    code = "database_change_failed"


class NoSnapshot(GatewayError):
    code = "snapshot_not_found"

    def __init__(self) -> None:
        super().__init__("snapshot not found")


class Moved(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a cutover did."""

    ok: bool = True
    schema_version: int
    tables_migrated: int
    rows_migrated: int
    duration_ms: int
    snapshot_path: str


class PlannedTable(Struct, frozen=True):
    name: str
    rows: int


class Plan(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a cutover would do."""

    ok: bool
    dry_run: bool = True
    server_version: int
    latency_ms: int
    schema_version: int
    tables: tuple[PlannedTable, ...]
    rows: int
    estimated_ms: int
    misfits: tuple[str, ...]
    """What PostgreSQL would refuse, or change."""


class DatabaseChange:
    """One change at a time, for one gateway."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._running: asyncio.Task[Any] | None = None

    @cached_property
    def _turn(self) -> Turn:
        # The routes are also listed where there is no gateway.
        return Turn(self.database)

    @property
    def database(self) -> SwitchableDatabase:
        return self._core.stores.database

    @property
    def progress(self) -> Mapping[str, Any]:
        """What a change under way is at, in whichever process."""
        return self._turn.progress

    async def plan(self, url: str, sslmode: str, details: bool) -> Plan:
        """Look at what a cutover would do; changes nothing. Raises BadRequest."""
        from gateway_postgres.loading import probe

        self._check_sqlite()
        server = await _refusing(lambda: probe(complete_url(url, sslmode)))
        tables = await self._tables(details)
        counts = [PlannedTable(each.name, await count(self.database, each)) for each in tables]
        found = [line for each in tables for line in await misfits(self.database, each)]
        rows = sum(each.rows for each in counts)
        return Plan(
            ok=not any("no " in line for line in found),
            server_version=server.version,
            latency_ms=server.latency_ms,
            schema_version=_schema_version(),
            tables=tuple(counts),
            rows=rows,
            estimated_ms=500 + rows * 1000 // ROWS_A_SECOND,
            misfits=tuple(found),
        )

    async def cutover(self, url: str, sslmode: str, details: bool) -> Moved:
        """Move to PostgreSQL. Raises BadRequest, Busy, ChangeFailed; SQLite is served then."""
        self._check_sqlite()
        return await self._alone("cutover", lambda: self._cut_over(url, sslmode, details))

    async def rollback(self, snapshot: str | None) -> int:
        """Go back to a snapshot; gives the milliseconds it took. Raises NoSnapshot, Busy."""
        self._check_postgres()
        path = self._snapshot(snapshot)
        return await self._alone("rollback", lambda: self._roll_back(path))

    async def others(self) -> int:
        """How many processes of other gateways use the PostgreSQL database. A pooler may hide
        them."""
        if self.database.engine != "postgres":
            return 0
        rows = await self.database.fetch(_OTHERS)
        others: int = rows[0]["others"]
        return others

    def check_free(self) -> None:
        """Raises Busy while a change is under way."""
        if self._running is not None or self._turn.is_taken:
            raise Busy

    def snapshots(self) -> list[str]:
        """Paths of snapshots, newest first."""
        found = self._core.data_dir.backups.glob(f"{PREFIX}*")
        return [str(path) for path in sorted(found, key=lambda each: each.name, reverse=True)]

    async def _alone(self, kind: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do a change to its end, even if its caller goes away, and log it."""
        self.check_free()
        began = time.monotonic()

        async def run() -> T:
            try:
                async with self._turn.held():
                    try:
                        result = await work()
                    except Exception as error:
                        await self._note_failure(kind, error, began)
                        raise
                    row = self._row(kind, began, result)
                    await log.write(self.database, row)
                    return result
            finally:
                self._running = None
                self._turn.note()
                # Of processes that ended meanwhile, and could not write.
                await recover(self._core.data_dir.journal, self._core.stores.usage)
                await self._core.refresh()

        self._running = asyncio.create_task(run())
        return await asyncio.shield(self._running)

    def _row(self, kind: str, began: float, result: Any = None, **more: Any) -> LogRow:
        if isinstance(result, Moved):
            more = {
                "schema_version": result.schema_version,
                "tables_migrated": result.tables_migrated,
                "rows_migrated": result.rows_migrated,
            }
        return LogRow(
            at=iso(self._core.clock()),
            type=kind,
            ok=0 if "error_code" in more else 1,
            duration_ms=_since(began),
            **more,
        )

    async def _note_failure(self, kind: str, error: Exception, began: float) -> None:
        code = getattr(error, "code", type(error).__name__)
        message = str(error)
        if kind == "cutover":
            try:
                await self._core.stores.settings.patch({"databaseEngineError": message})
            except GatewayError:
                pass  # The answer and the log say it too.
        row = self._row(kind, began, error_code=code, error_message=message)
        await log.write(self.database, row)

    def _check_sqlite(self) -> None:
        if self.database.engine != "sqlite":
            raise BadRequest("PostgreSQL is in use already")
        if self.database.selection.is_fixed:
            raise BadRequest(
                "GATEWAY_DATABASE_ENGINE selects SQLite, and would do so again at the next start: "
                "unset it first"
            )

    def _check_postgres(self) -> None:
        if self.database.engine != "postgres":
            raise BadRequest("SQLite is in use already")
        if self.database.selection.is_fixed:
            raise Conflict(
                "A variable or gateway-database.env selects PostgreSQL, and would do so again at "
                "the next start: unset it first"
            )

    async def _tables(self, details: bool) -> list[Table]:
        tables = await tables_of(self.database)
        return [each for each in tables if details or each.name != DETAILS]

    async def _cut_over(self, url: str, sslmode: str, details: bool) -> Moved:
        from gateway_postgres.loading import probe

        self._check_sqlite()  # Another process may have moved it until this one had its turn.
        began, core = time.monotonic(), self._core
        at = iso(core.clock())
        self._turn.note(step="probe")
        url = await _refusing(lambda: _completed(url, sslmode))
        await _refusing(lambda: probe(url))
        self._turn.note(step="migrations")
        chosen = await _refusing(lambda: open_postgres_storage(url, core.data_dir, core.clock))
        try:
            async with self._paused(at):
                self._turn.note(step="snapshot")
                snapshot = await _failing("snapshot_failed", self._take_snapshot(at))
                tables = await self._tables(details)
                rows = await _failing("copy_failed", self._copy(url, tables))
                changes = {
                    "databaseEngine": "postgres",
                    "databaseCutoverAt": at,
                    "databaseCutoverSchemaVersion": _schema_version(),
                    "databaseEngineError": None,
                    "postgresUrl": url,
                }
                self._turn.note(step="switch")
                # SQLite last: with its settings the next start finds PostgreSQL.
                for storage in (chosen, Storage(self.database.current, chosen.vault)):
                    settings = SettingsStore(storage.database, storage.vault)
                    await _failing("settings_failed", settings.patch(changes))
                await self.database.switch(chosen.database, Selection(url=url))
        except BaseException:
            await chosen.database.close()
            raise
        return Moved(
            schema_version=_schema_version(),
            tables_migrated=len(tables),
            rows_migrated=rows,
            duration_ms=_since(began),
            snapshot_path=str(snapshot),
        )

    @asynccontextmanager
    async def _paused(self, at: str) -> AsyncIterator[None]:
        # Rows that wait are written before the copy, so that the snapshot has them too. Those of
        # other processes wait for the end of the change.
        await self._core.ledger.settle()
        async with self._turn.alone(at):
            yield

    async def _take_snapshot(self, at: str) -> Path:
        path = self._core.data_dir.backups / f"{PREFIX}{at.replace(':', '-')}"
        # Of a process that was killed; nobody else takes one now.
        for leftover in path.parent.glob(f".{PREFIX}*.tmp"):
            leftover.unlink(missing_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        # VACUUM INTO takes an empty file; this one has its permissions from its first moment.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            await self.database.current.execute("VACUUM INTO :path", path=str(temporary))
            await asyncio.to_thread(_sync, temporary)
            await asyncio.to_thread(inspect, temporary, True, at_rest=True)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        await asyncio.to_thread(_sync, path)
        return path

    async def _copy(self, url: str, tables: list[Table]) -> int:
        from gateway_postgres.loading import loading

        total = 0
        self._turn.note(step="copy", rows=0, tablesDone=0, tables=len(tables))
        async with loading(url) as target:
            await target.clear(each.name for each in await tables_of(self.database))
            for done, table in enumerate(tables):
                self._turn.note(
                    step="copy",
                    table=table.name,
                    rows=total,
                    tablesDone=done,
                    tables=len(tables),
                )
                chunks = rows_of(self.database, table)
                total += await target.fill(table.name, tuple(table.columns), chunks)
        return total

    def _snapshot(self, named: str | None) -> Path:
        """The snapshot to go back to: a file in the folder of backups. Raises NoSnapshot."""
        if named is None:
            named = next(iter(self.snapshots()), "")
        folder, path = self._core.data_dir.backups.resolve(), Path(named).resolve()
        if not named or not path.is_relative_to(folder) or not path.is_file():
            raise NoSnapshot
        return path

    async def _roll_back(self, snapshot: Path) -> int:
        self._check_postgres()
        began, core = time.monotonic(), self._core
        at = iso(core.clock())
        self._turn.note(step="check")
        await _failing("snapshot_damaged", asyncio.to_thread(inspect, snapshot, True, at_rest=True))
        async with self._paused(at):
            self._turn.note(step="restore")
            live = core.data_dir.database
            kept = core.data_dir.backups / f"{REPLACED}{at.replace(':', '-')}"
            restored = await _failing("restore_failed", self._restore(snapshot))
            with suppress(StartRefused):  # A killed process may have left some of it in its log.
                await (await open_sqlite(live, expected=True)).close()
            placing = asyncio.to_thread(_put_in_place, restored, live, kept)
            await _failing("restore_failed", placing)
            try:
                opening = open_storage(core.data_dir, clock=core.clock)
                storage = await _failing("restore_failed", opening)
            except BaseException:
                await asyncio.to_thread(_put_back, kept, live)
                raise
            await self.database.switch(storage.database, Selection())
        return _since(began)

    async def _restore(self, snapshot: Path) -> Path:
        """A copy of a snapshot that has everything it takes to be served."""
        core = self._core
        path = core.data_dir.database.with_name(".data.sqlite.restored.tmp")
        await asyncio.to_thread(_copy_file, snapshot, path)
        database = await open_sqlite(path, expected=True)
        try:
            vault = await prepare(database, core.data_dir, core.clock)
            await _surpass(database, self.database.current)
            await log.carry_over(self.database.current, database)
            settings = SettingsStore(database, vault)
            await settings.patch({"databaseEngine": "sqlite", "databaseEngineError": None})
        finally:
            await database.close()
        await asyncio.to_thread(_sync, path)
        return path


async def _completed(url: str, sslmode: str) -> str:
    return complete_url(url, sslmode)


async def _refusing(work: Callable[[], Awaitable[T]]) -> T:
    """What is wrong with a database that the caller named is the caller's to know."""
    try:
        return await work()
    except StartRefused as error:
        raise BadRequest(str(error)) from error


async def _failing(code: str, work: Awaitable[T]) -> T:
    """Name the step that failed."""
    try:
        return await work
    except Exception as error:
        failed = ChangeFailed(str(error) or type(error).__name__)
        failed.code = getattr(error, "code", code)
        raise failed from error


async def _surpass(restored: Database, served: Database) -> None:
    """Raise every version above the served one, so that nothing is taken for unchanged."""
    old, new = await read_versions(restored), await read_versions(served)
    for group in old.keys() | new.keys():
        version = max(old.get(group, 0), new.get(group, 0)) + 1
        await restored.execute(
            "INSERT INTO meta (key, value) VALUES (:key, :value) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key=f"version.{group}",
            value=str(version),
        )
        if group == KEYS:
            await restored.execute("UPDATE api_keys SET version = :version", version=version)


def _schema_version() -> int:
    return packaged_migrations("postgres")[-1].number


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _sync(path: Path) -> None:
    for each in (path, path.parent):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _copy_file(source: Path, target: Path) -> None:
    for path in (target, *_beside(target)):
        path.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as copy, source.open("rb") as original:
        shutil.copyfileobj(original, copy)


def _beside(path: Path) -> list[Path]:
    """What SQLite keeps beside a database."""
    return [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm")]


def _put_in_place(restored: Path, live: Path, kept: Path) -> None:
    """Serve a file in the place of another one, which is kept. There is a file at any moment."""
    for path in _beside(live):
        path.unlink(missing_ok=True)
    if live.exists():
        try:
            os.link(live, kept)
        except OSError:  # Not every file system has links.
            shutil.copy2(live, kept)
    restored.replace(live)
    _sync(live)


def _put_back(kept: Path, live: Path) -> None:
    if kept.exists():
        for path in _beside(live):
            path.unlink(missing_ok=True)
        kept.replace(live)
