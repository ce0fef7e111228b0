"""A server that a plugin brings: how it is created, and what the gateway asks of it.

The gateway opens the listening socket, reads the certificate, handles signals
and starts worker processes. A server accepts connections on that socket and
calls an ASGI application for each request.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from .asgi import App

KIB = 1024


class ServerLimits(Struct, frozen=True, kw_only=True):
    """What a client may send, and how long it may take. Sizes in bytes, times in seconds."""

    request_line: int = 8 * KIB
    head: int = 32 * KIB
    """All header lines together."""
    headers: int = 100
    header: int = 8 * KIB
    """One header line."""
    cookie: int = 16 * KIB
    """One line of cookies."""
    head_time: float = 10.0
    """From the first byte of a request to the end of its headers."""
    body_silence: float = 30.0
    """Between two pieces of a request's body."""
    keep_alive: float = 15.0
    """Between two requests, and before the first."""
    linger: float = 5.0
    """How long a refused client may go on sending, so that it gets to read the refusal."""
    message: int = 1024 * KIB
    """One message of a WebSocket."""
    ping: float = 20.0
    """Between two pings on a WebSocket; a client that leaves three unanswered is gone."""
    connections: int = 12_000
    drain: float = 30.0
    """How long running requests may take after a stop was requested."""
    short_drain: float = 2.0
    """The same after a second request to stop, and for the last bytes after a cancelled request."""


class TlsCertificate(Protocol):
    """A certificate and its key, both checked when the gateway starts."""

    @property
    def cert(self) -> Path:
        """The file with the certificate chain, in PEM format."""
        ...

    @property
    def key(self) -> Path:
        """The file with its key; may be the same file."""
        ...

    @property
    def context(self) -> ssl.SSLContext:
        """For new handshakes; offers ``h2`` by ALPN if HTTP/2 is enabled."""
        ...

    def reload_if_changed(self) -> None:
        """Replace ``context`` if the files have changed. Cheap; call it about once a second."""
        ...


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How a server is to serve."""

    limits: ServerLimits = ServerLimits()
    certificate: TlsCertificate | None = None
    """Serve over TLS only, with this certificate."""
    http2: bool = True
    """Speak HTTP/2 with clients that offer it over TLS."""
    workers: int = 1
    """How many processes serve on the same socket, this one included."""
    before_cancel: Callable[[], None] = lambda: None
    """To be called when the time to drain is over, before the requests that run are cancelled."""


class Server(Protocol):
    """A server in one process."""

    async def serve(
        self, app: App, listener: socket.socket, wait_for_stop: Callable[[], Awaitable[object]]
    ) -> None:
        """Serve until ``wait_for_stop`` returns, then drain and close every connection.

        ``app`` is already started: the server sends it no lifespan events.
        """
        ...

    async def retire(self) -> None:
        """Accept no more, because another process does so on the same socket, and return when
        every connection has ended. Requests that come on an open one are answered; a connection
        that had time to send another one is closed. May be cancelled, and a stop may follow."""
        ...

    def shorten_drain(self) -> None:
        """A second request to stop: give running requests ``ServerLimits.short_drain`` only."""
        ...

    def close_idle(self) -> None:
        """Close connections without a request, because memory is short."""
        ...


class ServerSpec(Struct, frozen=True, kw_only=True):
    """A server by the name that ``model-gateway --server`` knows it by."""

    name: str
    create: Callable[[ServerOptions], Server]
    """Called in the process that serves, while its event loop runs."""
