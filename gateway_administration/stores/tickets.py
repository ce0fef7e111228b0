"""The store of tickets: what stands for something for a short while and can be given up once.

It knows a ticket by a digest of its text, so that who reads the database can
use none, and so that the time of a look-up tells nothing about the texts.

What a ticket stands for may be carried by whoever holds it, sealed. Then
nothing is stored before the ticket is given up, and asking for tickets costs
nothing and crowds nobody out.
"""

import hashlib
from collections.abc import Callable

import msgspec
from msgspec import Struct

from gateway_core.storage.database import Database, Row
from gateway_core.storage.errors import SealBroken, UniqueViolation
from gateway_core.storage.moments import Clock
from gateway_core.storage.vault import Vault

TABLE = "tickets"
# The clock of the gateway that made a ticket may be some seconds ahead of this one's.
_LIVE = "id = :id AND purpose = :purpose AND made_at - 5 <= :now AND :now < expires_at"


class Purpose(Struct, frozen=True, kw_only=True):
    """What tickets of one kind are for, and how many there are."""

    name: str
    lifetime: float
    """Seconds."""
    most: int = 5000
    """When there are more, the oldest goes."""


class _Carried(Struct, frozen=True):
    """What is sealed for the holder of a ticket. Times are Unix seconds."""

    value: str
    made_at: float
    expires_at: float


class TicketStore:
    """Tickets by purpose. All processes on the database know them."""

    def __init__(self, database: Database, vault: Vault, *, clock: Clock) -> None:
        self._database = database
        self._seal = vault.seal_for("tickets")
        self._carry = vault.seal_for("carried tickets")
        self._clock = clock

    async def add(self, purpose: Purpose, text: str, value: str, owner: str) -> None:
        """Let a text stand for a value. Those whose time is over go."""
        id, now = _digest(text), self._clock()
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM tickets WHERE expires_at <= :now", now=now)
            await transaction.execute(
                """
                DELETE FROM tickets WHERE purpose = :purpose AND id IN (
                    SELECT id FROM tickets WHERE purpose = :purpose ORDER BY made_at DESC
                    LIMIT :most OFFSET :kept
                )
                """,
                purpose=purpose.name,
                most=purpose.most,
                kept=purpose.most - 1,
            )
            await transaction.execute(
                """
                INSERT INTO tickets (id, purpose, owner, value, made_at, expires_at)
                VALUES (:id, :purpose, :owner, :value, :now, :expires_at)
                """,
                id=id,
                purpose=purpose.name,
                owner=owner,
                value=self._sealed(id, value),
                now=now,
                expires_at=now + purpose.lifetime,
            )

    async def look(self, purpose: Purpose, text: str) -> str | None:
        """What a ticket stands for, while it is good."""
        rows = await self._database.fetch(
            f"SELECT id, value FROM tickets WHERE {_LIVE}", **self._named(purpose, text)
        )
        return self._opened(rows)

    async def take(self, purpose: Purpose, text: str) -> str | None:
        """The same, and the ticket is worth nothing from now on: of two that take it one gets it.

        A text that is no ticket costs no write.
        """
        if await self.look(purpose, text) is None:
            return None
        async with self._database.transaction() as transaction:
            rows = await transaction.fetch(
                f"DELETE FROM tickets WHERE {_LIVE} RETURNING id, value",
                **self._named(purpose, text),
            )
        return self._opened(rows)

    async def revise(self, purpose: Purpose, text: str, decide: Callable[[str], str]) -> None:
        """Let a good ticket stand for what ``decide`` makes of its value at that very moment."""
        named = self._named(purpose, text)
        async with self._database.transaction() as transaction:
            rows = await transaction.fetch(f"SELECT id, value FROM tickets WHERE {_LIVE}", **named)
            value = self._opened(rows)
            if value is not None:
                await transaction.execute(
                    "UPDATE tickets SET value = :value WHERE id = :id",
                    id=named["id"],
                    value=self._sealed(named["id"], decide(value)),
                )

    def carried(self, purpose: Purpose, text: str, value: str) -> str:
        """A value, sealed, for the holder of a text to keep."""
        now = self._clock()
        carried_value = _Carried(value, now, now + purpose.lifetime)
        return self._carry.close(
            msgspec.json.encode(carried_value).decode(),
            table=TABLE,
            column=purpose.name,
            row=_digest(text),
        )

    async def look_carried(self, purpose: Purpose, text: str, sealed: str) -> str | None:
        """What such a ticket stands for, while it is good and was not spent."""
        try:
            opened = self._carry.open(sealed, table=TABLE, column=purpose.name, row=_digest(text))
        except SealBroken:
            return None
        carried = msgspec.json.decode(opened, type=_Carried)
        is_live = carried.made_at <= self._clock() < carried.expires_at
        spent = await self._database.fetch(
            "SELECT id FROM tickets WHERE id = :id", id=_digest(text)
        )
        return carried.value if is_live and not spent else None

    async def spend(self, purpose: Purpose, text: str) -> bool:
        """Make such a ticket worthless: of two that spend it one is told ``True``."""
        try:
            await self.add(purpose, text, "", "")
        except UniqueViolation:
            return False
        return True

    async def drop(self, purpose: Purpose, owner: str) -> None:
        """Make every ticket of an owner worthless."""
        await self._database.execute(
            "DELETE FROM tickets WHERE purpose = :purpose AND owner = :owner",
            purpose=purpose.name,
            owner=owner,
        )

    def _named(self, purpose: Purpose, text: str) -> Row:
        return {"id": _digest(text), "purpose": purpose.name, "now": self._clock()}

    def _sealed(self, id: str, value: str) -> str:
        return self._seal.close(value, table=TABLE, column="value", row=id)

    def _opened(self, rows: list[Row]) -> str | None:
        if not rows:
            return None
        (row,) = rows
        try:
            return self._seal.open(row["value"], table=TABLE, column="value", row=row["id"])
        except SealBroken:
            return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
