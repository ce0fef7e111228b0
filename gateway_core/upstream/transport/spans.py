"""Waits with a time limit each, which can be ended all together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .failures import shutting_down


class Spans:
    """The waits of one carrier that its end has to interrupt."""

    def __init__(self) -> None:
        self._open: set[asyncio.Timeout] = set()
        self._left = asyncio.Event()
        self.ended = False

    @asynccontextmanager
    async def limit(self, seconds: float | None) -> AsyncIterator[None]:
        """Raise TimeoutError when it takes longer, or when everything is ended meanwhile.

        Raises TransportError when everything was ended before.
        """
        if self.ended:
            raise shutting_down()
        async with asyncio.timeout(seconds) as span:
            self._open.add(span)
            try:
                yield
            finally:
                self._open.discard(span)
                self._left.set()

    async def end(self) -> None:
        """Interrupt every wait, and wait until all are over."""
        self.ended = True
        now = asyncio.get_running_loop().time()
        for span in self._open:
            # asyncio refuses to move a timeout that has expired already.
            if not span.expired():
                span.reschedule(now)
        while self._open:
            self._left.clear()
            await self._left.wait()
