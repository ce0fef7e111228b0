"""The audit trail: one row before each act that matters, never changed afterwards."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ..database import Database
from ..moments import Clock, iso
from .versions import raise_version

GROUP = "audit"


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


class AuditStore:
    """Who did what."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def write(
        self,
        actor: str,
        address: str,
        action: str,
        target: str | None = None,
        detail: Mapping[str, Any] = {},
    ) -> None:
        """Add a row. It is written before the act; if this raises, the act is left undone."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                """
                INSERT INTO audit (id, at, actor, address, action, target, detail)
                VALUES (:id, :at, :actor, :address, :action, :target, :detail)
                """,
                id=await raise_version(transaction, GROUP),
                at=iso(self._clock()),
                actor=actor,
                address=address,
                action=action,
                target=target,
                detail=msgspec.json.encode(detail).decode(),
            )

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
