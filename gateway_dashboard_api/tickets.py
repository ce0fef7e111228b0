"""Single-use tickets: random texts that browsers keep, valid at every process on the database."""

import secrets
from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from gateway_administration.stores.tickets import Purpose, TicketStore
from gateway_core.pipeline.context import Collaborators

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

    @cached_property
    def _store(self) -> TicketStore:
        stores = self._core.stores
        return TicketStore(stores.database, stores.vault, clock=self._core.clock)

    async def issue(self, value: T, *, owner: str = "") -> str:
        """Create a ticket for a value."""
        text = secrets.token_urlsafe(self._size)
        await self.restore(text, value, owner=owner)
        return text

    async def restore(self, text: str, value: T, *, owner: str = "") -> None:
        """Let the text of a redeemed ticket stand for a value again, for a whole lifetime."""
        await self._store.add(self._purpose, text, _encode(value), owner)

    async def find(self, text: str) -> T | None:
        """Return a valid ticket's value."""
        return self._read(await self._store.look(self._purpose, text))

    async def redeem(self, text: str) -> T | None:
        """Return a valid ticket's value and invalidate the ticket."""
        return self._read(await self._store.take(self._purpose, text))

    async def revise(self, text: str, decide: Callable[[T], T]) -> None:
        """Replace the value of a valid ticket by what ``decide`` makes of it at that moment."""

        def decide_text(encoded: str) -> str:
            return _encode(decide(self._decoder.decode(encoded)))

        await self._store.revise(self._purpose, text, decide_text)

    async def revoke(self, owner: str) -> None:
        """Invalidate every ticket of an owner."""
        await self._store.drop(self._purpose, owner)

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

    @cached_property
    def _store(self) -> TicketStore:
        stores = self._core.stores
        return TicketStore(stores.database, stores.vault, clock=self._core.clock)

    def issue(self, value: T) -> tuple[str, str]:
        """Create a ticket for a value; returns its text and the encrypted value."""
        text = secrets.token_urlsafe(self._size)
        return text, self._store.carried(self._purpose, text, _encode(value))

    async def find(self, text: str, sealed: str) -> T | None:
        """Return a valid ticket's value."""
        encoded = await self._store.look_carried(self._purpose, text, sealed)
        return None if encoded is None else self._decoder.decode(encoded)

    # Separate from ``find``, so that a failed exchange does not use the ticket up.
    async def spend(self, text: str) -> bool:
        """Invalidate a ticket; ``False`` when it was used before."""
        return await self._store.spend(self._purpose, text)


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
