"""What the connections of one serving process share: limits, a clock, and how they all end.

```text
open ──stop──▶ closing: no new connection, idle ones closed, new requests get 503
                  │ every request has ended, or the time is up
                  ▼
               cut: what still runs is told to say its last word, then all is closed
```
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from .limits import Limits

log = logging.getLogger(__name__)

App = Callable[..., Awaitable[None]]
Message = MutableMapping[str, Any]
Make = Callable[[], asyncio.BaseProtocol]
"""Makes what stands at this end of a new connection."""
TICK = 1.0
STOPPING = b'{"error":"The gateway is stopping"}'


class Visitor(Protocol):
    """A client's connection, as the door sees it."""

    def look(self, now: float) -> None:
        """End it if it has taken too long."""

    def close_idle(self) -> None:
        """End it if no request is on it."""

    def shut(self) -> None:
        """End it as soon as the request on it is answered."""

    def abort(self) -> None:
        """End it now."""


class Listening(Protocol):
    """A socket that connections come in by."""

    def close(self) -> None: ...


class Entrance(Protocol):
    """A way in other than straight from the socket: over TLS."""

    async def open(
        self, door: "Door", app: App, make: Make, listener: socket.socket
    ) -> "Listening":
        """Let connections in; those of HTTP/1.1 are made by ``make``."""


class Door:
    """Counts and times connections, and closes them in order."""

    def __init__(
        self,
        limits: Limits,
        cut: Callable[[], None] = lambda: None,
        entrance: Entrance | None = None,
    ) -> None:
        self.limits = limits
        self._entrance = entrance
        self.now = 0.0
        """The loop's time at the last tick; near enough for limits of seconds."""
        self.usual: list[tuple[bytes, bytes]] = []
        """Headers that every answer has."""
        self.closing = False
        self.visitors: set[Visitor] = set()
        self.tasks: set[asyncio.Task[Any]] = set()
        """The requests that run."""
        self.ticks: list[Callable[[], None]] = []
        """What else is done at every tick."""
        self._cut = cut
        self._draining: asyncio.Timeout | None = None
        self._hurried = False

    @property
    def is_full(self) -> bool:
        return len(self.visitors) >= self.limits.connections

    async def attend(
        self, app: App, make: Make, listener: socket.socket, stop: asyncio.Event
    ) -> None:
        """Let clients in until a stop is asked for, then close in order.

        ``make`` makes what answers a connection of HTTP/1.1.
        """
        self.tick()
        server = await self._open(app, make, listener)
        self.tick()  # There may be more to do by now.
        ticking = asyncio.create_task(self._keep_time())
        try:
            await stop.wait()
        finally:
            server.close()
            await self._drain()
            ticking.cancel()
            await asyncio.wait((ticking,))

    async def _open(self, app: App, make: Make, listener: socket.socket) -> "Listening":
        if self._entrance is not None:
            return await self._entrance.open(self, app, make, listener)
        return await asyncio.get_running_loop().create_server(make, sock=listener)

    def hurry(self) -> None:
        """Give running requests only a moment more."""
        self._hurried = True
        if self._draining is not None:
            self._draining.reschedule(asyncio.get_running_loop().time() + self.limits.hurry)

    def close_idle(self) -> None:
        """Close every connection that no request is on."""
        for visitor in tuple(self.visitors):
            visitor.close_idle()

    def tick(self) -> None:
        self.now = asyncio.get_running_loop().time()
        for work in self.ticks:
            try:
                work()
            except Exception:  # The rest is to be done all the same.
                log.exception("what is done at every tick went wrong")
        for visitor in tuple(self.visitors):
            try:
                visitor.look(self.now)
            except Exception:  # The others are to be looked at all the same.
                log.exception("a connection could not be looked after")
                self._throw_out(visitor)

    def _throw_out(self, visitor: Visitor) -> None:
        try:
            visitor.abort()
        except Exception:  # It is let go of, and the others have their turn.
            log.exception("a connection could not be ended")
            self.visitors.discard(visitor)

    async def _keep_time(self) -> None:
        limits = self.limits
        shortest = min(limits.head_time, limits.body_silence, limits.keep_alive)
        while True:
            await asyncio.sleep(min(TICK, shortest / 4))
            try:
                self.tick()
            except Exception:
                log.exception("connections could not be looked after")

    async def _drain(self) -> None:
        self.closing = True
        for visitor in tuple(self.visitors):
            visitor.shut()
        limits = self.limits
        in_time = await self._settled(limits.hurry if self._hurried else limits.drain)
        if not in_time and self.tasks:
            await self._cut_off()
        await self._gone()

    async def _cut_off(self) -> None:
        log.warning("%d requests are cut off by the stop", len(self.tasks))
        self._cut()
        for task in tuple(self.tasks):
            task.cancel()
        await self._settled(self.limits.hurry)

    async def _settled(self, within: float) -> bool:
        """Wait until no request runs; false if that takes too long."""
        try:
            async with asyncio.timeout(within) as self._draining:
                while self.tasks:
                    await asyncio.wait(tuple(self.tasks))
        except TimeoutError:
            return False
        finally:
            self._draining = None
        return True

    async def _gone(self) -> None:
        """Wait a moment for the last bytes to leave, then close what is left."""
        deadline = asyncio.get_running_loop().time() + self.limits.hurry
        while self.visitors and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        for visitor in tuple(self.visitors):
            self._throw_out(visitor)
        await self._settled(self.limits.hurry)


async def stopping(scope: Message, receive: object, send: Callable[..., Awaitable[None]]) -> None:
    """The application that stands in while the gateway stops."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(STOPPING)).encode()),
        (b"retry-after", b"1"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": STOPPING, "more_body": False})
