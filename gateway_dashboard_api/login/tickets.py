"""Single-use tickets of the login: random texts that browsers keep, valid at every worker."""

import secrets
from typing import Generic, TypeVar

import msgspec

from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.stores.tickets import Purpose

T = TypeVar("T")


class Tickets(Generic[T]):
    """The tickets of one purpose, whose values of type ``kind`` are stored in the database."""

    def __init__(
        self, core: Collaborators, kind: type[T], purpose: Purpose, *, size: int = 32
    ) -> None:
        self._core = core
        self._decoder = msgspec.json.Decoder(kind)
        self._purpose = purpose
        self._size = size
        """Random bytes of a ticket."""

    async def issue(self, value: T, *, owner: str = "") -> str:
        """Create a ticket for a value."""
        text = secrets.token_urlsafe(self._size)
        encoded = msgspec.json.encode(value).decode()
        await self._core.stores.tickets.add(self._purpose, text, encoded, owner)
        return text

    async def find(self, text: str) -> T | None:
        """Return a valid ticket's value."""
        return self._read(await self._core.stores.tickets.look(self._purpose, text))

    async def redeem(self, text: str) -> T | None:
        """Return a valid ticket's value and invalidate the ticket."""
        return self._read(await self._core.stores.tickets.take(self._purpose, text))

    async def revoke(self, owner: str) -> None:
        """Invalidate every ticket of an owner."""
        await self._core.stores.tickets.drop(self._purpose, owner)

    def _read(self, encoded: str | None) -> T | None:
        return None if encoded is None else self._decoder.decode(encoded)


class SealedTickets(Generic[T]):
    """Tickets whose values the browser keeps, encrypted, so that nothing is stored."""

    def __init__(
        self, core: Collaborators, kind: type[T], purpose: Purpose, *, size: int = 32
    ) -> None:
        self._core = core
        self._decoder = msgspec.json.Decoder(kind)
        self._purpose = purpose
        self._size = size
        """Random bytes of a ticket."""

    def issue(self, value: T) -> tuple[str, str]:
        """Create a ticket for a value; returns its text and the encrypted value."""
        text = secrets.token_urlsafe(self._size)
        encoded = msgspec.json.encode(value).decode()
        return text, self._core.stores.tickets.carried(self._purpose, text, encoded)

    async def find(self, text: str, sealed: str) -> T | None:
        """Return a valid ticket's value."""
        tickets = self._core.stores.tickets
        encoded = await tickets.look_carried(self._purpose, text, sealed)
        return None if encoded is None else self._decoder.decode(encoded)

    # Separate from ``find``, so that a failed exchange does not use the ticket up.
    async def spend(self, text: str) -> bool:
        """Invalidate a ticket; ``False`` when it was used before."""
        return await self._core.stores.tickets.spend(self._purpose, text)
