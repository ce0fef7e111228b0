"""Names of what was deleted, so that the ledger's rows can still be read."""

from collections.abc import Iterable, Mapping
from typing import Literal

from ..database import Statements

Kind = Literal["key", "connection", "node"]
NAMED: Mapping[Kind, str] = {
    "key": "SELECT 'key', id, name FROM api_keys WHERE id = :id",
    "connection": "SELECT 'connection', id, COALESCE(name, email, id) FROM connections "
    "WHERE id = :id",
    "node": "SELECT 'node', id, name FROM nodes WHERE id = :id",
}


async def keep_names(transaction: Statements, kind: Kind, ids: Iterable[str]) -> None:
    """Note the names of rows that are about to be deleted."""
    await transaction.execute_many(
        f"INSERT INTO former_names (kind, id, name) {NAMED[kind]} "
        "ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name",
        [{"id": identity} for identity in ids],
    )
