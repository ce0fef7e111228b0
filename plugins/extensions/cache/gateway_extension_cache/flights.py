"""Equal requests at once: one asks the vendor, the others wait for its answer."""

import asyncio

PATIENCE = 30.0
"""Seconds that a request waits for others before it asks by itself."""
LINGER = 2.0
"""Seconds for which an answer that is not kept yet is found here."""


class Flight:
    """A question that is under way to its vendor."""

    def __init__(self, name: str, under_way: "dict[str, Flight]") -> None:
        self._name, self._under_way = name, under_way
        self._over = asyncio.Event()
        self.body: bytes | None = None
        """The answer, once it is whole."""
        self.is_alone = False
        """Its answer is none for others; they need not wait for one another either."""
        under_way[name] = self

    def land(self, body: bytes | None, *, is_alone: bool = False) -> None:
        """It is over; without an answer one of the others asks next. The first time counts."""
        if self._over.is_set():
            return
        self.body, self.is_alone = body, is_alone
        self._over.set()
        if body is None:
            self.leave()
        else:  # Nobody may come to keep it, such as where the client has left.
            asyncio.get_running_loop().call_later(LINGER, self.leave)

    def leave(self) -> None:
        """Its answer is kept, or is not going to be."""
        if self._under_way.get(self._name) is self:
            del self._under_way[self._name]

    async def wait(self, seconds: float) -> None:
        """Until it is over. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            await self._over.wait()


class Flights:
    """Those under way, by the name of their question."""

    def __init__(self) -> None:
        self._under_way: dict[str, Flight] = {}

    async def join(self, name: str) -> Flight | bytes | None:
        """The answer of another request; a flight to be flown by this one; or nothing, where it
        is to ask by itself."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while (flight := self._under_way.get(name)) is not None:
            try:
                await flight.wait(until - loop.time())
            except TimeoutError:
                return None
            if flight.body is not None:
                return flight.body
            if flight.is_alone:
                return None
        return Flight(name, self._under_way)
