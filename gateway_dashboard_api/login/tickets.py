"""Tickets of the login: random texts for a browser to keep, good at every worker, and once."""

import secrets
from typing import Generic, TypeVar

import msgspec

from gateway_core.pipeline.context import Core
from gateway_core.storage.stores.tickets import Purpose

T = TypeVar("T")


class Tickets(Generic[T]):
    """The tickets of one purpose, which stand for values of one ``kind``; kept in the database."""

    def __init__(self, core: Core, kind: type[T], purpose: Purpose, *, size: int = 32) -> None:
        self._core = core
        self._decoder = msgspec.json.Decoder(kind)
        self._purpose = purpose
        self._size = size
        """Random bytes in a text."""

    async def issue(self, value: T, *, owner: str = "") -> str:
        """A new ticket for a value."""
        text = secrets.token_urlsafe(self._size)
        encoded = msgspec.json.encode(value).decode()
        await self._core.stores.tickets.add(self._purpose, text, encoded, owner)
        return text

    async def find(self, text: str) -> T | None:
        """What a ticket stands for, while it is good."""
        return self._read(await self._core.stores.tickets.look(self._purpose, text))

    async def redeem(self, text: str) -> T | None:
        """The same, and the ticket is worth nothing from now on."""
        return self._read(await self._core.stores.tickets.take(self._purpose, text))

    async def revoke(self, owner: str) -> None:
        """Make every ticket of an owner worthless."""
        await self._core.stores.tickets.drop(self._purpose, owner)

    def _read(self, encoded: str | None) -> T | None:
        return None if encoded is None else self._decoder.decode(encoded)


class SealedTickets(Generic[T]):
    """The same, but the browser keeps the values, sealed, beside the texts."""

    def __init__(self, core: Core, kind: type[T], purpose: Purpose, *, size: int = 32) -> None:
        self._core = core
        self._decoder = msgspec.json.Decoder(kind)
        self._purpose = purpose
        self._size = size
        """Random bytes in a text."""

    def issue(self, value: T) -> tuple[str, str]:
        """A new ticket for a value, and the value sealed for it."""
        text = secrets.token_urlsafe(self._size)
        encoded = msgspec.json.encode(value).decode()
        return text, self._core.stores.tickets.carried(self._purpose, text, encoded)

    async def find(self, text: str, sealed: str) -> T | None:
        """What a ticket stands for, while it is good."""
        tickets = self._core.stores.tickets
        encoded = await tickets.look_carried(self._purpose, text, sealed)
        return None if encoded is None else self._decoder.decode(encoded)

    async def spend(self, text: str) -> bool:
        """Make a ticket worthless; ``False`` when it was already."""
        return await self._core.stores.tickets.spend(self._purpose, text)
