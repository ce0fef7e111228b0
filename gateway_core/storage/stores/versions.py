"""A number for each group of tables that grows with every write to it.

It is raised in the transaction of the write itself, so whoever sees the new
number sees the new rows, in this process and in any other on the same
database. Reading all of them is one small query.
"""

from collections.abc import Mapping

from ..database import Statements

_PREFIX = "version."


async def read_versions(database: Statements) -> Mapping[str, int]:
    """The number of each group that was ever written to."""
    rows = await database.fetch(
        "SELECT key, value FROM meta WHERE key >= 'version.' AND key < 'version/'"
    )
    return {row["key"].removeprefix(_PREFIX): int(row["value"]) for row in rows}


RAISE = """
    INSERT INTO meta (key, value) VALUES (:key, CAST(:by AS TEXT))
    ON CONFLICT (key) DO UPDATE
    SET value = CAST(CAST(meta.value AS BIGINT) + :by AS TEXT)
"""
"""Counts ``:by`` writes of the group whose ``key_of`` is ``:key``."""


def key_of(group: str) -> str:
    """Under which key a group's number stands in the table ``meta``."""
    return _PREFIX + group


async def raise_version(transaction: Statements, group: str, by: int = 1) -> int:
    """Count a write, or several, and give the group's new number."""
    rows = await transaction.fetch(f"{RAISE} RETURNING value", key=key_of(group), by=by)
    return int(rows[0]["value"])
