"""The store of sessions: who is signed in to the dashboard, and from where."""

from msgspec import Struct
from msgspec.structs import asdict

from gateway_core.storage.database import Database
from gateway_core.storage.moments import Clock

_FIELDS = (
    *("id", "method", "name", "email", "address", "user_agent", "through_tunnel", "epoch"),
    *("created_at", "expires_at"),
)
_INSERT = f"INSERT INTO sessions VALUES ({', '.join(f':{name}' for name in _FIELDS)})"


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session. ``created_at`` is UTC ISO text, ``expires_at`` Unix seconds."""

    id: str
    method: str
    """``password`` or ``oidc``."""
    name: str | None
    email: str | None
    address: str
    user_agent: str
    through_tunnel: bool
    epoch: str | None
    """The one in the settings when it began; with another, the session is over."""
    created_at: str
    expires_at: int


class SessionStore:
    """Sessions, each kept until its token expires."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, row: SessionRow) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM sessions WHERE expires_at <= :now", now=int(self._clock())
            )
            values = {**asdict(row), "through_tunnel": int(row.through_tunnel)}
            await transaction.execute(_INSERT, **values)

    async def list(self, epoch: str | None) -> tuple[SessionRow, ...]:
        """The sessions of an epoch that are not over, newest first."""
        rows = await self._database.fetch(
            """
            SELECT * FROM sessions WHERE expires_at > :now
                AND id NOT IN (SELECT id FROM ended_sessions)
            ORDER BY created_at DESC, id
            """,
            now=int(self._clock()),
        )
        return tuple(
            SessionRow(**{**row, "through_tunnel": bool(row["through_tunnel"])})
            for row in rows
            if row["epoch"] == epoch
        )
