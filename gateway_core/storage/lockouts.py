"""The store of lockouts, through which processes that count failures tell each other of them."""

from msgspec import Struct

from .database import Database


class Lock(Struct, frozen=True, kw_only=True):
    """How an address stands. Times are seconds of a clock that all processes have in common."""

    locks: int
    """How often it was shut out in a row."""
    until: float
    last: float
    """When the last failure was."""


class LockoutStore:
    """Locks by address."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, address: str) -> Lock | None:
        rows = await self._database.fetch(
            "SELECT locks, until, last FROM lockouts WHERE address = :address", address=address
        )
        return Lock(**rows[0]) if rows else None

    async def put(self, address: str, lock: Lock) -> None:
        await self._database.execute(
            """
            INSERT INTO lockouts (address, locks, until, last)
            VALUES (:address, :locks, :until, :last)
            ON CONFLICT (address) DO UPDATE
            SET locks = excluded.locks, until = excluded.until, last = excluded.last
            """,
            address=address,
            locks=lock.locks,
            until=lock.until,
            last=lock.last,
        )

    async def delete(self, address: str) -> None:
        await self._database.execute(
            "DELETE FROM lockouts WHERE address = :address", address=address
        )

    async def clear(self, before: float | None = None) -> None:
        """Forget everybody, or those whose last failure was before a time."""
        if before is None:
            await self._database.execute("DELETE FROM lockouts")
        else:
            await self._database.execute("DELETE FROM lockouts WHERE last < :before", before=before)
