"""The tables of the database: their columns, and their rows in pieces."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gateway_core.storage.database import Database, Queries
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import MEMORY, open_sqlite

DETAILS = "request_details"
AT_ONCE = 500
_TABLES = """
    SELECT t.name AS name, c.name AS column_name, c.type AS type, c."notnull" AS is_required,
        c.dflt_value IS NOT NULL AS has_default, c.pk AS place_in_key
    FROM sqlite_schema t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND t.name <> 'migrations'
    ORDER BY t.name, c.cid
"""
_MISFITS: Mapping[str, str] = {
    "BIGINT": "typeof({0}) NOT IN ('integer', 'null')",
    "DOUBLE PRECISION": "typeof({0}) NOT IN ('real', 'integer', 'null')",
    "TEXT": "typeof({0}) NOT IN ('text', 'null')",
}
"""Values that SQLite takes into a column of a type, and PostgreSQL does not."""


class Table(Struct, frozen=True):
    name: str
    columns: Mapping[str, str]
    """Types by name, in order."""
    key: tuple[str, ...]
    """The columns of the primary key, in order."""
    nullable: frozenset[str]
    optional: frozenset[str]
    """Columns with a default, or that may be NULL: a row need not set them."""


async def tables_of(database: Queries) -> list[Table]:
    """The tables of an SQLite database."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in await database.fetch(_TABLES):
        found.setdefault(row["name"], []).append(row)
    return [_table(name, rows) for name, rows in found.items()]


def _table(name: str, columns: Sequence[Mapping[str, Any]]) -> Table:
    key = sorted((each["place_in_key"], each["column_name"]) for each in columns)
    nullable = {
        each["column_name"]
        for each in columns
        if not each["is_required"] and not each["place_in_key"]
    }
    return Table(
        name,
        {each["column_name"]: each["type"] for each in columns},
        tuple(column for place, column in key if place),
        frozenset(nullable),
        frozenset(nullable | {each["column_name"] for each in columns if each["has_default"]}),
    )


async def schema() -> Mapping[str, Table]:
    """The tables of this version, by name. Both engines have the same."""
    empty = await open_sqlite(MEMORY)
    try:
        await migrate(empty, packaged_migrations("sqlite"), time.time)
        return {table.name: table for table in await tables_of(empty)}
    finally:
        await empty.close()


async def pages_of(
    database: Queries, table: Table, at_once: int = AT_ONCE
) -> AsyncIterator[list[Mapping[str, Any]]]:
    """Every row of a table of either engine, in the order of its key."""
    names = ", ".join(f'"{name}"' for name in table.columns)
    key = ", ".join(f'"{name}"' for name in table.key)
    last = ", ".join(f":{name}" for name in table.key)
    order = f"ORDER BY {key} LIMIT {at_once}"
    rows = await database.fetch(f"SELECT {names} FROM {table.name} {order}")
    while rows:
        yield rows
        rows = await database.fetch(
            f"SELECT {names} FROM {table.name} WHERE ({key}) > ({last}) {order}",
            **{name: rows[-1][name] for name in table.key},
        )


async def rows_of(database: Database, table: Table) -> AsyncIterator[Sequence[Sequence[Any]]]:
    """Every row of an SQLite table, in pieces; nobody writes meanwhile."""
    names, after = ", ".join(f'"{name}"' for name in table.columns), -(2**63)
    while True:
        rows = await database.fetch(
            f"SELECT {names}, rowid AS place FROM {table.name} "  # our own tables
            f"WHERE rowid > :after ORDER BY rowid LIMIT {AT_ONCE}",
            after=after,
        )
        if not rows:
            return
        after = rows[-1]["place"]
        yield [tuple(row.values())[:-1] for row in rows]


async def count(database: Database, table: Table) -> int:
    rows = await database.fetch(f"SELECT count(*) AS total FROM {table.name}")
    total: int = rows[0]["total"]
    return total


async def misfits(database: Database, table: Table) -> list[str]:
    """What of a table PostgreSQL would refuse, or change."""
    checks = [
        (f"count(CASE WHEN {term.format(chr(34) + name + chr(34))} THEN 1 END)", name, kind)
        for name, type in table.columns.items()
        for kind, term in (
            (f"values that are no {type}", _MISFITS[type]),
            *(
                [("texts with U+0000, which is replaced", "instr({0}, char(0)) > 0")]
                if type == "TEXT"
                else []
            ),
        )
    ]
    columns = ", ".join(f"{term} AS c{place}" for place, (term, _, _) in enumerate(checks))
    rows = await database.fetch(f"SELECT {columns} FROM {table.name}")
    return [
        f"{table.name}.{name}: {rows[0][f'c{place}']} {kind}"
        for place, (_, name, kind) in enumerate(checks)
        if rows[0][f"c{place}"]
    ]
