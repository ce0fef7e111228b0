"""The log of changes of the database."""

import logging

from msgspec import Struct
from msgspec.structs import asdict

from gateway_core.storage.database import Database
from gateway_core.storage.stores.versions import raise_version

NEWEST = 50
GROUP = "database_log"
_FIELDS = (
    *("at", "type", "ok", "duration_ms", "schema_version", "tables_migrated", "rows_migrated"),
    *("error_code", "error_message"),
)
_INSERT = (
    f"INSERT INTO database_log (id, {', '.join(_FIELDS)}) "
    f"VALUES (:id, {', '.join(f':{name}' for name in _FIELDS)})"
)

log = logging.getLogger(__name__)


class LogRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """A change, or an attempt: ``cutover``, ``rollback`` or ``test``."""

    at: str
    type: str
    ok: int
    duration_ms: int
    schema_version: int | None = None
    tables_migrated: int | None = None
    rows_migrated: int | None = None
    error_code: str | None = None
    error_message: str | None = None


class StoredRow(LogRow, frozen=True, kw_only=True, rename="camel"):
    id: int


async def write(database: Database, row: LogRow) -> None:
    """Add a row, if the database takes it: what it tells has happened already."""
    try:
        async with database.transaction() as transaction:
            number = await raise_version(transaction, GROUP)
            await transaction.execute(_INSERT, id=number, **asdict(row))
    except Exception as error:
        log.error("the log of database changes could not be written: %s", error)


async def carry_over(source: Database, target: Database) -> None:
    """Add what the log of one database has and that of another lacks, if both can be read."""
    try:
        known = {_content(row) for row in await newest(target)}
        missing = [row for row in await newest(source) if _content(row) not in known]
    except Exception as error:
        log.error("the log of database changes could not be carried over: %s", error)
        return
    for row in reversed(missing):
        await write(target, _content(row))


def _content(row: StoredRow) -> LogRow:
    """A row without its number, which is another one in each database."""
    return LogRow(**{name: getattr(row, name) for name in _FIELDS})


async def newest(database: Database) -> list[StoredRow]:
    rows = await database.fetch(
        "SELECT * FROM database_log ORDER BY id DESC LIMIT :most", most=NEWEST
    )
    return [StoredRow(**row) for row in rows]
