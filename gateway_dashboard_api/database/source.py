"""The tables of the SQLite database, as a cutover reads them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gateway_core.storage.database import Database

DETAILS = "request_details"
AT_ONCE = 500
_TABLES = """
    SELECT t.name AS name, c.name AS column_name, c.type AS type
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


async def tables_of(database: Database) -> list[Table]:
    found: dict[str, dict[str, str]] = {}
    for row in await database.fetch(_TABLES):
        found.setdefault(row["name"], {})[row["column_name"]] = row["type"]
    return [Table(name, columns) for name, columns in found.items()]


async def rows_of(database: Database, table: Table) -> AsyncIterator[Sequence[Sequence[Any]]]:
    """Every row, in pieces; nobody writes meanwhile."""
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
