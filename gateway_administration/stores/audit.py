"""The audit trail, to read."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from gateway_core.storage.stores.audit import AuditStore


class AuditRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """``at`` is UTC ISO text; ids grow with time."""

    id: int
    at: str
    actor: str
    address: str
    action: str
    """``key.create``, ``password.change`` and the like."""
    target: str | None
    detail: Mapping[str, Any]


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Which rows; ``None`` takes any. ``since`` is included, ``until`` is not, both UTC ISO."""

    action: str | None = None
    """``key.create``, or ``key`` for all that begin so."""
    actor: str | None = None
    address: str | None = None
    target: str | None = None
    since: str | None = None
    until: str | None = None


EVERYTHING = AuditFilter()
_TERMS: Mapping[str, str] = {
    "action": "(action = :action OR substr(action, 1, length(:action) + 1) = :action || '.')",
    "actor": "actor = :actor",
    "address": "address = :address",
    "target": "target = :target",
    "since": "at >= :since",
    "until": "at < :until",
}


class AuditTrail(AuditStore):
    """Who did what."""

    async def page(
        self, which: AuditFilter = EVERYTHING, *, limit: int = 50, offset: int = 0
    ) -> tuple[tuple[AuditRow, ...], int]:
        """Rows, newest first, and how many there are in all."""
        values = {name: value for name, value in asdict(which).items() if value is not None}
        terms = " AND ".join(_TERMS[name] for name in values)
        where = f" WHERE {terms}" if terms else ""
        rows = await self._database.fetch(
            f"SELECT * FROM audit{where} ORDER BY id DESC LIMIT :limit OFFSET :offset",
            **values,
            limit=limit,
            offset=offset,
        )
        counted = await self._database.fetch(
            f"SELECT count(*) AS total FROM audit{where}", **values
        )
        audited = (
            AuditRow(**{**row, "detail": msgspec.json.decode(row["detail"])}) for row in rows
        )
        return tuple(audited), counted[0]["total"]
