"""Work that one of several processes on a database does."""

from gateway_core.storage.database import Database

_TAKE = """
    INSERT INTO meta (key, value) VALUES (:key, CAST(:until AS TEXT))
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE CAST(meta.value AS DOUBLE PRECISION) <= :now
    OR CAST(meta.value AS DOUBLE PRECISION) > :until  -- of a clock that was set back since
"""


class LeaseStore:
    """Until when work is somebody's, as seconds of the wall clock."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, work: str, now: float, until: float) -> bool:
        """Take work up, unless another process has done so and its time is not over."""
        key = f"lease.{work}"
        return bool(await self._database.execute(_TAKE, key=key, now=now, until=until))

    async def give_back(self, work: str, until: float) -> None:
        """End a lease before its time, unless another process has taken it since."""
        await self._database.execute(
            "DELETE FROM meta WHERE key = :key AND value = CAST(:until AS TEXT)",
            key=f"lease.{work}",
            until=until,
        )
