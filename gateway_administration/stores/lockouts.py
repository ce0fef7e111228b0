"""The store of failed attempts to sign in, which processes on one data directory count together."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import asdict

from gateway_core.storage.database import Database, Statements

MOST = 5000
"""Addresses that are remembered, and beside them those that are shut out now."""
_PUT = """
    INSERT INTO lockouts (address, failures, locks, until, last)
    VALUES (:address, :failures, :locks, :until, :last)
    ON CONFLICT (address) DO UPDATE
    SET failures = excluded.failures, locks = excluded.locks,
        until = excluded.until, last = excluded.last
"""
_MAKE_ROOM = """
    DELETE FROM lockouts WHERE until <= :now AND address IN (
        SELECT address FROM lockouts ORDER BY last DESC LIMIT :most OFFSET :most
    )
"""


class Standing(Struct, frozen=True, kw_only=True):
    """How an address stands. Times are seconds of a clock that all processes have in common."""

    failures: int = 0
    """Since the last lock."""
    locks: int = 0
    """How often it was shut out in a row."""
    until: float = 0.0
    last: float = 0.0
    """When the last failure was."""


class LockoutStore:
    """How addresses stand."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, address: str) -> Standing | None:
        rows = await self._database.fetch(
            "SELECT failures, locks, until, last FROM lockouts WHERE address = :address",
            address=address,
        )
        return Standing(**rows[0]) if rows else None

    async def revise(
        self, address: str, decide: Callable[[Standing], Standing | None], *, before: float
    ) -> None:
        """Let an address stand as ``decide`` says of how it stands at that very moment.

        ``None`` forgets it. Nothing is written when ``decide`` raises. Those go
        whose last failure was before a time.
        """
        async with self._database.transaction() as transaction:
            standing = decide(await _held(transaction, address))
            if standing is None:
                await transaction.execute(
                    "DELETE FROM lockouts WHERE address = :address", address=address
                )
                return
            await transaction.execute("DELETE FROM lockouts WHERE last < :before", before=before)
            await transaction.execute(_PUT, address=address, **asdict(standing))
            await transaction.execute(_MAKE_ROOM, now=standing.last, most=MOST)

    async def clear(self) -> None:
        """Forget everybody."""
        await self._database.execute("DELETE FROM lockouts")


async def _held(transaction: Statements, address: str) -> Standing:
    """How an address stands; nobody else changes that before the transaction ends."""
    rows = await transaction.fetch(
        """
        INSERT INTO lockouts (address, failures, locks, until, last)
        VALUES (:address, 0, 0, 0, 0)
        ON CONFLICT (address) DO UPDATE SET address = excluded.address
        RETURNING failures, locks, until, last
        """,
        address=address,
    )
    return Standing(**rows[0])
