"""Whether a server that needs no key is there at all: most such providers are a program that the
operator may or may not have started (C.5)."""

import asyncio
import time
from collections.abc import Callable

from ..contracts.errors import TransportError
from .transport import Network

PATIENCE = 1.5
"""Seconds."""
REMEMBERED = 30.0
"""Seconds for which what was found counts."""
MOST = 1024


class Reachability:
    """Looks whether servers accept connections, and remembers it for a while."""

    def __init__(self, network: Network, clock: Callable[[], float] = time.monotonic) -> None:
        self._network, self._clock = network, clock
        self._found: dict[str, tuple[float, bool]] = {}

    async def check(self, address: str) -> bool:
        """Whether a server answers at an address."""
        until, is_there = self._found.get(address, (0.0, False))
        if until > self._clock():
            return is_there
        try:
            async with asyncio.timeout(PATIENCE):
                await self._network.direct.reach(address)
            is_there = True
        except (TimeoutError, TransportError):
            is_there = False
        if len(self._found) >= MOST:
            self._found.clear()
        self._found[address] = (self._clock() + REMEMBERED, is_there)
        return is_there
