"""Accepting connections over TLS.

```text
socket ──▶ TlsHandshake ──http/1.1──▶ Http1Protocol
                        └──h2───────▶ Http2Connection
```

Connections are accepted here and not by the event loop, which reports neither
a handshake that is under way nor one that fails: a client that connects and
says nothing would not count against the limit of connections.
"""

import asyncio
import logging
import socket
from typing import Any, cast

from gateway_core import TlsCertificate

from ..connections import App, ConnectionManager, CreateProtocol, set_nodelay
from ..multiplexed.connection import Http2Connection
from .transport import TlsTransport

log = logging.getLogger(__name__)

H2 = "h2"
ACCEPT_BATCH = 100
"""How many connections are accepted before other callbacks run."""
RETRY_AFTER = 0.05
"""Seconds to wait after the system had no descriptor for a connection."""
SHUTDOWN_TIMEOUT = 24 * 3600.0
"""Seconds the event loop may take to close a connection: the manager's limits are far shorter."""


class TlsListener:
    """Accepts connections on a listening socket until it is closed."""

    def __init__(
        self,
        certificate: TlsCertificate,
        manager: ConnectionManager,
        app: App,
        create_http1: CreateProtocol,
        listener: socket.socket,
    ) -> None:
        self.certificate, self.manager, self.app = certificate, manager, app
        self.create_http1, self._listener = create_http1, listener
        self._loop = asyncio.get_running_loop()
        self._retrying: asyncio.TimerHandle | None = None
        manager.ticks.append(certificate.reload_if_changed)

    def start(self) -> None:
        self._retrying = None
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        if self._retrying is not None:
            self._retrying.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        for _ in range(ACCEPT_BATCH):
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # EMFILE and the like: the connection stays in the queue, so without a pause the
                # loop would call this again at once.
                log.error("a connection could not be accepted: %s", error)
                self._loop.remove_reader(self._listener)
                self._retrying = self._loop.call_later(RETRY_AFTER, self.start)
                return
            if self.manager.is_full:
                accepted.close()
            else:
                TlsHandshake(self, accepted).start()


class TlsHandshake(asyncio.Protocol):
    """A connection until its handshake is done; it counts among the manager's connections."""

    def __init__(self, listener: TlsListener, accepted: socket.socket) -> None:
        self._listener, self._accepted = listener, accepted
        self._manager = listener.manager
        self._task: asyncio.Task[None]

    def start(self) -> None:
        self._accepted.setblocking(False)
        set_nodelay(self._accepted)
        self._manager.connections.add(self)
        self._task = asyncio.get_running_loop().create_task(self._shake_hands())
        self._task.add_done_callback(self._on_done)

    async def _shake_hands(self) -> None:
        limits = self._manager.limits
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self,
                self._accepted,
                ssl=self._listener.certificate.context,
                ssl_handshake_timeout=limits.head_time,
                ssl_shutdown_timeout=SHUTDOWN_TIMEOUT,
            )
        except OSError as error:
            log.debug("a TLS handshake failed: %r", error)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._manager.connections.discard(self)
        if task.cancelled():
            self._accepted.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand over to the protocol that ALPN selected: RFC 7301, and RFC 9113, section 3.2."""
        self._manager.connections.discard(self)
        inner = cast(asyncio.Transport, transport)
        selected = inner.get_extra_info("ssl_object").selected_alpn_protocol()
        listener = self._listener
        protocol = (
            Http2Connection(listener.app, self._manager)
            if selected == H2
            else listener.create_http1()
        )
        inner.set_protocol(protocol)
        cast(Any, protocol).connection_made(TlsTransport(inner, self._manager))

    # Called by the manager. No request can be lost in a handshake, so it never waits for one.

    def on_tick(self, now: float) -> None:
        """The event loop keeps the time of a handshake."""

    def close_idle(self) -> None:
        self.abort()

    def start_drain(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._task.cancel()
