"""Tickets: random texts that stand for something for a short while and can be given up once."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Tickets(Generic[T]):
    """The tickets of one purpose. ``lifetime`` is in seconds of ``monotonic``.

    Only a digest of each text is kept, so that the time of a look-up tells
    nothing about the texts there are. When there are too many, the oldest goes.
    """

    def __init__(
        self,
        lifetime: float,
        monotonic: Callable[[], float],
        *,
        size: int = 32,
        most: int = 5000,
    ) -> None:
        self.lifetime = lifetime
        self._monotonic = monotonic
        self._size = size
        """Random bytes in a text."""
        self._most = most
        self._held: OrderedDict[bytes, tuple[float, T]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def give(self, value: T) -> str:
        """A new ticket for a value."""
        text = secrets.token_urlsafe(self._size)
        self._held[_digest(text)] = (self._monotonic() + self.lifetime, value)
        if len(self._held) > self._most:
            self._held.popitem(last=False)
        return text

    def look(self, text: str) -> T | None:
        """What a ticket stands for, while it is good."""
        key = _digest(text)
        entry = self._held.get(key)
        if entry is None:
            return None
        until, value = entry
        if self._monotonic() < until:
            return value
        del self._held[key]
        return None

    def take(self, text: str) -> T | None:
        """The same, and the ticket is worth nothing from now on."""
        value = self.look(text)
        self._held.pop(_digest(text), None)
        return value

    def drop(self, is_meant: Callable[[T], bool]) -> None:
        """Make every ticket worthless whose value is meant."""
        for key in [key for key, (_, value) in self._held.items() if is_meant(value)]:
            del self._held[key]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
