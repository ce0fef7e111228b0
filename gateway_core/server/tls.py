"""TLS before the door: the handshake of every connection.

```text
socket ──▶ Arrival (handshake) ──http/1.1──▶ the server's own connection
                               └──h2───────▶ Http2
```

Connections are accepted here and not by the event loop, which tells nobody of
a handshake that is under way, or that fails.
"""

import asyncio
import logging
import socket
from pathlib import Path
from typing import Any, cast

from .certificate import Certificate
from .door import App, Door, Make
from .http2 import Http2
from .sealed import Sealed

log = logging.getLogger(__name__)

H1, H2 = "http/1.1", "h2"
AT_ONCE = 100
"""How many connections are accepted before others have a turn."""
PAUSE = 0.05
"""Seconds to wait after the system had no room for a connection."""
PATIENCE = 24 * 3600.0
"""Seconds that the event loop may take to close a connection: the door sees to it earlier."""


class TlsEntrance:
    """The way in over TLS."""

    def __init__(self, cert: Path, key: Path, *, http2: bool) -> None:
        """Two files in PEM format. Raises ConfigError, which says which one is wrong."""
        self.certificate = Certificate(cert, key, [H2, H1] if http2 else [H1])

    async def open(self, door: Door, app: App, make: Make, listener: socket.socket) -> "Accepting":
        """Let connections in; those of HTTP/1.1 are made by ``make``. Raises ConfigError."""
        door.ticks.append(self.certificate.look)
        accepting = Accepting(self.certificate, door, app, make, listener)
        accepting.begin()
        return accepting


class Accepting:
    """Takes connections off a listening socket until it is closed."""

    def __init__(
        self,
        certificate: Certificate,
        door: Door,
        app: App,
        make: Make,
        listener: socket.socket,
    ) -> None:
        self.certificate, self.door, self.app, self.make = certificate, door, app, make
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._pausing: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        self._pausing = None
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        if self._pausing is not None:
            self._pausing.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error("a connection could not be accepted: %s", error)
                self._loop.remove_reader(self._listener)
                self._pausing = self._loop.call_later(PAUSE, self.begin)
                return
            if self.door.is_full:
                accepted.close()
            else:
                Arrival(self, accepted).begin()


class Arrival(asyncio.Protocol):
    """A connection until its handshake is done; it counts among the door's visitors."""

    def __init__(self, accepting: Accepting, accepted: socket.socket) -> None:
        self._accepting, self._accepted = accepting, accepted
        self._door = accepting.door
        self._shaking: asyncio.Task[None]

    def begin(self) -> None:
        self._accepted.setblocking(False)
        self._door.visitors.add(self)
        self._shaking = asyncio.get_running_loop().create_task(self._shake())
        self._shaking.add_done_callback(self._shaken)

    async def _shake(self) -> None:
        limits = self._door.limits
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self,
                self._accepted,
                ssl=self._accepting.certificate.context,
                ssl_handshake_timeout=limits.head_time,
                ssl_shutdown_timeout=PATIENCE,
            )
        except OSError as error:
            log.debug("a TLS handshake failed: %r", error)

    def _shaken(self, shaking: asyncio.Task[None]) -> None:
        self._door.visitors.discard(self)
        if shaking.cancelled():
            self._accepted.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the connection begin that speaks what was agreed on."""
        self._door.visitors.discard(self)
        inner = cast(asyncio.Transport, transport)
        agreed = inner.get_extra_info("ssl_object").selected_alpn_protocol()
        app, make = self._accepting.app, self._accepting.make
        made = Http2(app, self._door) if agreed == H2 else make()
        inner.set_protocol(made)
        cast(Any, made).connection_made(Sealed(inner, self._door))

    # What the door wants: nobody waits for a handshake.

    def look(self, now: float) -> None:
        """The event loop keeps the time of a handshake."""

    def close_idle(self) -> None:
        self.abort()

    def shut(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._shaking.cancel()
