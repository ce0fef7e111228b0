"""The store of sessions that were signed out of: their tokens are signed, and worth nothing."""

from ..database import Database
from ..moments import Clock
from .versions import raise_version

GROUP = "ended_sessions"
GRACE = 24 * 3600
"""Seconds that a row outlives its token, so that a clock that is set back revives nothing."""


class EndedSessionStore:
    """Ids of sessions, each kept until its token is no good anyway."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ids(self) -> frozenset[str]:
        """Every session that has ended and whose token may still look good."""
        rows = await self._database.fetch("SELECT id FROM ended_sessions")
        return frozenset(row["id"] for row in rows)

    async def add(self, id: str, expires_at: int) -> None:
        """Note that a session has ended. ``expires_at`` is its token's, in Unix seconds."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM ended_sessions WHERE expires_at < :past",
                past=int(self._clock()) - GRACE,
            )
            await transaction.execute(
                """
                INSERT INTO ended_sessions (id, expires_at) VALUES (:id, :expires_at)
                ON CONFLICT (id) DO NOTHING
                """,
                id=id,
                expires_at=expires_at,
            )
            await raise_version(transaction, GROUP)
