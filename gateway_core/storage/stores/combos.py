"""The store of combos: rows of ``combos`` in, ``Combo`` values out."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..database import Database, Row

GROUP = "combos"
_TUPLES = {"models", "members", "allowed_connection_ids"}
JSON_COLUMNS = (*_TUPLES, "capabilities")


class Combo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A named chain of models."""

    id: str
    name: str
    kind: str | None = None
    models: tuple[str, ...] = ()
    """In order; a member may be another combo's name."""
    members: tuple[Mapping[str, Any], ...] | None = None
    """Weights and pinned accounts, where there are any."""
    capabilities: Any = None
    """The most the combo claims to be able to do, as the operator wrote it."""
    allowed_connection_ids: tuple[str, ...] = ()
    """Empty allows every account."""
    created_at: str
    updated_at: str


class ComboStore:
    """Named chains of models."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self) -> tuple[Combo, ...]:
        rows = await self._database.fetch("SELECT * FROM combos ORDER BY created_at, name")
        return tuple(read_combo(row) for row in rows)

    async def get(self, combo_id: str) -> Combo | None:
        rows = await self._database.fetch("SELECT * FROM combos WHERE id = :id", id=combo_id)
        return read_combo(rows[0]) if rows else None


def read_combo(row: Row) -> Combo:
    decoded = {
        name: msgspec.json.decode(row[name]) for name in JSON_COLUMNS if row[name] is not None
    }
    for name in _TUPLES & decoded.keys():
        decoded[name] = tuple(decoded[name])
    return Combo(**{**row, **decoded})
