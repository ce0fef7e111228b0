"""What the connections of one process share: limits, a clock, and how they all end.

```text
open ──stop──▶ draining: no new connection, idle ones closed, new requests get 503
                  │ every request has ended, or the time is up
                  ▼
               cancelled: what still runs is cancelled, then all is closed
```

Before that a server may be retired: another process accepts on its socket, and what comes on open
connections is answered, the last time with ``Connection: close``.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Protocol

from gateway_core import ServerLimits

log = logging.getLogger(__name__)

App = Callable[..., Awaitable[None]]
Message = MutableMapping[str, Any]
CreateProtocol = Callable[[], asyncio.BaseProtocol]
"""Creates the protocol of a new HTTP/1.1 connection."""
TICK = 1.0
LOOK_EVERY = 0.1
"""Seconds between two looks whether a retired server has connections."""
BACKLOG = 2048
"""Connections that the system keeps until they are accepted."""
MIN_BODY_PROGRESS = 1024
"""Bytes of a body that must arrive within ``ServerLimits.body_silence``, unless it ends."""
STOPPING = b'{"error":"The gateway is stopping"}'


class ServedConnection(Protocol):
    """A client's connection, as the manager sees it."""

    def on_tick(self, now: float) -> None:
        """Close it if it has taken too long."""

    def close_idle(self) -> None:
        """Close it if it has no request."""

    def start_drain(self) -> None:
        """Close it after the response to the current request."""

    def abort(self) -> None:
        """Close it now."""


class Listening(Protocol):
    """A listening socket from which connections are accepted."""

    def close(self) -> None: ...


class ConnectionManager:
    """Counts and times connections, and closes them in order."""

    def __init__(
        self, limits: ServerLimits, before_cancel: Callable[[], None] = lambda: None
    ) -> None:
        self.limits = limits
        self.now = 0.0
        """The loop's time at the last tick: precise enough for limits of seconds."""
        self.closing = False
        self.is_retired = False
        """Each connection is closed after a response that says so."""
        self.connections: set[ServedConnection] = set()
        self.tasks: set[asyncio.Task[Any]] = set()
        """The requests that run."""
        self.uploads = 0
        """Requests over HTTP/2 whose body has not all come."""
        self.ticks: list[Callable[[], None]] = []
        """Further work of every tick."""
        self._before_cancel = before_cancel
        self._draining: asyncio.Timeout | None = None
        self._is_short = False
        self._listening: Listening | None = None
        """While connections are accepted."""

    @property
    def is_full(self) -> bool:
        return len(self.connections) >= self.limits.connections

    async def serve(
        self, listening: Listening, wait_for_stop: Callable[[], Awaitable[object]]
    ) -> None:
        """Keep the time of connections until a stop is requested, then close them in order."""
        self._listening = listening
        self.tick()
        ticking = asyncio.create_task(self._keep_time())
        try:
            await wait_for_stop()
        finally:
            self._stop_accepting()
            await self._drain()
            ticking.cancel()
            await asyncio.wait((ticking,))

    async def retire(self) -> None:
        """Accept no more, and wait until every connection has ended."""
        self.is_retired = True
        self._stop_accepting()
        # What was accepted in this iteration of the loop joins the connections in a later one, so
        # the first look is not at once.
        is_used = True
        while is_used:
            await asyncio.sleep(LOOK_EVERY)
            is_used = bool(self.connections or self.tasks)

    def _stop_accepting(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def shorten_drain(self) -> None:
        """Give running requests only a moment more."""
        self._is_short = True
        if self._draining is not None:
            loop = asyncio.get_running_loop()
            self._draining.reschedule(loop.time() + self.limits.short_drain)

    def close_idle(self) -> None:
        """Close every connection without a request."""
        for connection in tuple(self.connections):
            connection.close_idle()

    def tick(self) -> None:
        self.now = asyncio.get_running_loop().time()
        for work in self.ticks:
            try:
                work()
            except Exception:  # One failure must not end the clock of all connections.
                log.exception("the work of a tick failed")
        for connection in tuple(self.connections):
            try:
                connection.on_tick(self.now)
            except Exception:  # One failure must not spare the other connections their limits.
                log.exception("the limits of a connection could not be checked")
                self._abort(connection)

    def _abort(self, connection: ServedConnection) -> None:
        try:
            connection.abort()
        except Exception:  # A stop must not wait for a connection that cannot be closed.
            log.exception("a connection could not be closed")
            self.connections.discard(connection)

    async def _keep_time(self) -> None:
        limits = self.limits
        shortest = min(limits.head_time, limits.body_silence, limits.keep_alive)
        while True:
            await asyncio.sleep(min(TICK, shortest / 4))
            try:
                self.tick()
            except Exception:
                log.exception("the limits of connections could not be checked")

    async def _drain(self) -> None:
        self.closing = True
        for connection in tuple(self.connections):
            connection.start_drain()
        limits = self.limits
        in_time = await self._finish_tasks(limits.short_drain if self._is_short else limits.drain)
        if not in_time and self.tasks:
            log.warning("%d requests are cancelled by the stop", len(self.tasks))
            self._before_cancel()
            for task in tuple(self.tasks):
                task.cancel()
            await self._finish_tasks(limits.short_drain)
        # The last bytes get a moment to leave.
        deadline = asyncio.get_running_loop().time() + limits.short_drain
        while self.connections and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        for connection in tuple(self.connections):
            self._abort(connection)
        await self._finish_tasks(limits.short_drain)

    async def _finish_tasks(self, within: float) -> bool:
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


def set_nodelay(sock: Any) -> None:
    """Send small segments at once.

    asyncio does so only for sockets made with IPPROTO_TCP, and an accepted socket has protocol
    0 if the listening one was made by ``socket.create_server``. Without it a stream's short
    chunk may wait for the acknowledgement of the one before it: RFC 896 with RFC 1122,
    section 4.2.3.2.
    """
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            return  # The client has reset the connection; reading reports that.


def set_receive_buffer(sock: Any, size: int) -> None:
    """Bound what the system holds of a connection, and with it what one read brings: socket(7).

    What one read brings stays allocated over TLS: the event loop and OpenSSL each keep a buffer as
    long as the longest read, of up to 256 KiB.
    """
    if sock is not None:
        with suppress(OSError):  # The client has reset the connection.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)


async def stopping(scope: Message, receive: object, send: Callable[..., Awaitable[None]]) -> None:
    """The application that answers new requests while the gateway stops."""
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
