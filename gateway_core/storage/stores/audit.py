"""The audit trail: one row before each act that matters, never changed afterwards."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..database import Database
from ..moments import Clock, iso
from .versions import raise_version

GROUP = "audit"


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
