"""The state of the running gateway: version, time, plugins, memory, disk and database."""

import platform
import shutil
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio.to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.machine import memory_size, memory_used
from gateway_core.config.data_dir import DataDir
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.plugins import State
from gateway_core.storage.database import Database
from gateway_core.storage.errors import StorageFull, StorageUnavailable
from gateway_core.storage.moments import iso

from ..admin_context import AdminContext
from ..endpoint import endpoint
from .routes import current_version

PATH = "/api/system"


class PluginCounts(Struct, frozen=True, kw_only=True):
    """How many plugins there are; ``problems`` are those of all of them."""

    found: int
    loaded: int
    failed: int
    problems: int


class MemoryState(Struct, frozen=True, kw_only=True):
    """Bytes; ``null`` where the system does not say."""

    used: int | None
    """By this process."""
    size: int | None
    """The machine's, or the container's where that is less."""
    full: bool
    """New inference requests are refused with 503."""


class DiskState(Struct, frozen=True, kw_only=True):
    """Bytes of the disk that the data directory is on, and what the gateway has there."""

    path: str
    size: int
    free: int
    journal: int
    """Finished requests that are not in the database yet."""
    backups: int


class DatabaseState(Struct, frozen=True, kw_only=True, rename="camel"):
    engine: str
    version: str | None
    """Of the engine; ``null``, as the two that follow, where it does not answer."""
    size: int | None
    """Bytes; of SQLite with what is not in the main file yet."""
    latency_ms: float | None
    """How long the least query takes."""
    serving_fallback: bool
    error: str | None


class SystemState(Struct, frozen=True, kw_only=True, rename="camel"):
    """The process that answers; others that share its data directory have their own."""

    version: str
    python: str
    platform: str
    started_at: str
    uptime: float
    """Seconds."""
    in_flight: int
    """Requests that are being served."""
    draining: bool
    """A stop was requested."""
    shares_data: bool
    """Other workers use the same data directory."""
    plugins: PluginCounts
    memory: MemoryState
    disk: DiskState
    database: DatabaseState


def routes(admin: AdminContext) -> list[Guarded]:
    begun = time.monotonic()

    async def show(admin: AdminContext, request: Request) -> Response:
        return json_answer(await read_state(admin, time.monotonic() - begun))

    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the system's state",
            access=Access.OPERATOR,
            answer=SystemState,
        )
    ]


async def read_state(admin: AdminContext, uptime: float) -> SystemState:
    """``uptime`` are the seconds since the routes were made, which is when the gateway started."""
    core = admin.core
    disk = await anyio.to_thread.run_sync(read_disk, core.data_dir)
    return SystemState(
        version=current_version(),
        python=platform.python_version(),
        platform=platform.platform(),
        started_at=iso(core.clock() - uptime),
        uptime=round(uptime, 1),
        in_flight=len(core.in_flight),
        draining=core.state.is_draining,
        shares_data=core.shares_data,
        plugins=count_plugins(admin),
        memory=MemoryState(used=memory_used(), size=memory_size(), full=core.state.is_full),
        disk=disk,
        database=await read_database(admin),
    )


def count_plugins(admin: AdminContext) -> PluginCounts:
    registry = admin.snapshot.registry
    states = Counter(plugin.state for plugin in registry.plugins)
    return PluginCounts(
        found=len(registry.plugins),
        loaded=states[State.LOADED],
        failed=states[State.FAILED],
        problems=len(registry.problems),
    )


def read_disk(data_dir: DataDir) -> DiskState:
    usage = shutil.disk_usage(data_dir.path)
    return DiskState(
        path=str(data_dir.path),
        size=usage.total,
        free=usage.free,
        journal=size_of(data_dir.journal.iterdir()),
        backups=size_of(data_dir.backups.iterdir()),
    )


def size_of(paths: Iterable[Path]) -> int:
    """Return the bytes of files; one that is gone by now counts as none."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


async def read_database(admin: AdminContext) -> DatabaseState:
    """Look at the database in use; one that does not answer has its ``error`` instead."""
    database = admin.core.stores.database
    selection = database.selection
    version: str | None = None
    size: int | None = None
    latency: float | None = None
    error = selection.error
    try:
        latency = await measure_latency(database)
        version, size = await read_size(admin, database)
    except (StorageFull, StorageUnavailable) as unavailable:
        error = str(unavailable)
    return DatabaseState(
        engine=database.engine,
        version=version,
        size=size,
        latency_ms=latency,
        serving_fallback=selection.is_fallback,
        error=error,
    )


async def measure_latency(database: Database) -> float:
    """Return the milliseconds of the least query."""
    begun = time.monotonic()
    await database.fetch("SELECT 1 AS one")
    return round((time.monotonic() - begun) * 1000, 2)


async def read_size(admin: AdminContext, database: Database) -> tuple[str, int]:
    """Return the engine's version, and the bytes that it takes."""
    if database.engine == "postgres":
        rows = await database.fetch(
            "SELECT current_setting('server_version') AS version, "
            "pg_database_size(current_database()) AS size"
        )
        return str(rows[0]["version"]), int(rows[0]["size"])
    rows = await database.fetch("SELECT sqlite_version() AS version")
    main = admin.core.data_dir.database
    files = (main, *(main.with_name(main.name + end) for end in ("-wal", "-shm")))
    return str(rows[0]["version"]), await anyio.to_thread.run_sync(size_of, files)
