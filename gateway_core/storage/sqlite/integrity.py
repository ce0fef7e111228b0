"""Looks through a database file for damage, without ever writing to it.

A file of usual size is looked through whole before it is opened. In a large one
that holds for every table but those that grow with each request, so that the
start takes as long with millions of rows as with none; these are looked through
while the gateway serves, if the last stop was not a clean one.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from ...config.errors import DatabaseUnusable
from .worker import Worker

BUSY_MS = 5000
SMALL = 32 * 1024 * 1024
"""Bytes that are looked through within a few hundredths of a second."""
GROWING = frozenset({"usage", "usage_parts", "usage_sums", "request_details"})
_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)
_SHUT = (apsw.CantOpenError, apsw.BusyError, apsw.LockedError, apsw.PermissionsError)
"""Errors that say nothing of what the file holds."""

log = logging.getLogger(__name__)


def inspect(path: Path, expected: bool, *, at_rest: bool = False) -> bool:
    """Look at a file before it is opened; gives whether growing tables are still to be looked
    through. ``at_rest`` says that nobody writes it meanwhile, so that no file need be made beside
    it. Raises DatabaseUnusable when it is damaged or, if expected, has no tables."""
    was_left_open = _was_left_open(path)
    is_small = path.stat().st_size <= SMALL
    try:
        probe = connect_at_rest(path) if at_rest else connect_reading(path)
        try:
            tables = {name for (name,) in probe.execute(_TABLES)}
            if is_small:
                result = probe.execute("PRAGMA quick_check(1)").get
                verdict = None if result == "ok" else str(result)
            else:
                verdict = problem_in(probe, tables - GROWING)
        finally:
            probe.close()
    except _SHUT as error:
        raise DatabaseUnusable(shut(path, error)) from error
    except apsw.Error as error:
        raise DatabaseUnusable(_damaged(path, str(error))) from error
    if verdict is not None:
        raise DatabaseUnusable(_damaged(path, verdict))
    if expected and not tables:
        raise DatabaseUnusable(gone(path))
    return was_left_open and not is_small and not tables.isdisjoint(GROWING)


def read_at_rest(path: Path, *queries: str) -> list[tuple[Any, ...]]:
    """Rows of a database that nobody writes meanwhile. A table that it has not got has none."""
    probe = connect_at_rest(path)
    try:
        rows: list[tuple[Any, ...]] = []
        for query in queries:
            with suppress(apsw.SQLError):
                rows.extend(probe.execute(query))
        return rows
    finally:
        probe.close()


def _was_left_open(path: Path) -> bool:
    # SQLite empties and removes the write-ahead log when its last user closes it.
    wal = path.with_name(f"{path.name}-wal")
    return wal.exists() and wal.stat().st_size > 0


def connect_at_rest(path: Path) -> apsw.Connection:
    """Connect to a database that nobody writes meanwhile, making no file beside it."""
    if _was_left_open(path):
        return connect_reading(path)
    # https://www.sqlite.org/uri.html: immutable files are read without locks or -shm.
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{path.as_uri()}?immutable=1", flags=flags)


async def look_through(path: Path) -> None:
    """Look through the growing tables, and say so in the log when they are damaged."""
    log.info("the database was not closed by its last user; its large tables are looked through")
    try:
        connect = partial(connect_reading, path)
        worker = await Worker.start("sqlite inspector", connect, interrupts=True)
        try:
            problem = await worker.run(_problem_in_growing)
        finally:
            await worker.close(apsw.Connection.close)
    except Exception as error:
        problem = str(error)
    if problem is None:
        log.info("the large tables of the database are in order")
    else:
        log.error(
            "the database %s is damaged in its large tables (%s); usage cannot be relied on, "
            "stop the gateway and put a backup in its place",
            path,
            problem,
        )


def connect_reading(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def problem_in(connection: apsw.Connection, tables: Iterable[str]) -> str | None:
    """The first thing that is wrong with tables and their indexes."""
    for table in sorted(tables):
        verdict = connection.execute(f'PRAGMA quick_check("{table}")').get
        if verdict != "ok":
            return str(verdict)
    return None


def _problem_in_growing(connection: apsw.Connection) -> str | None:
    tables = {name for (name,) in connection.execute(_TABLES)}
    return problem_in(connection, tables & GROWING)


def _damaged(path: Path, why: str) -> str:
    return (
        f"The database {path} is damaged ({why}) and was left as it is. Put a backup in its place."
    )


def shut(path: Path, error: Exception) -> str:
    """What is said of a database that cannot be opened, whatever it holds."""
    return (
        f"The database {path} cannot be opened: {error}. See that no other program holds it, "
        "that the gateway may read and write it, and that its disk has room."
    )


def gone(path: Path) -> str:
    return (
        f"The database {path} is missing or empty, but this data directory was used before. "
        "Put the database back, or remove the file 'started' to begin with an empty one."
    )
