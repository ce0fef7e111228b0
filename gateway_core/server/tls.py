"""TLS before the door: the certificate, and the handshake of every connection.

```text
socket ──▶ Arrival (handshake) ──http/1.1──▶ the server's own connection
                               └──h2───────▶ Multiplexed
```

Connections are accepted here and not by the event loop, which tells nobody of
a handshake that is under way, or that fails.
"""

import asyncio
import logging
import os
import socket
import ssl
from pathlib import Path
from typing import Any, cast

from ..config.errors import ConfigError
from .door import App, Door, Make
from .http2 import Multiplexed
from .sealed import Sealed

log = logging.getLogger(__name__)

H1, H2 = "http/1.1", "h2"
AT_ONCE = 100
"""How many connections are accepted before others have a turn."""
PAUSE = 0.05
"""Seconds to wait after the system had no room for a connection."""


class TlsEntrance:
    """The way in over TLS."""

    def __init__(self, cert: Path, key: Path, *, http2: bool) -> None:
        """Two files in PEM format. Raises ConfigError, which says which one is wrong."""
        self.context = _context(cert, key)
        self.context.set_alpn_protocols([H2, H1] if http2 else [H1])

    async def open(self, door: Door, app: App, make: Make, listener: socket.socket) -> "Accepting":
        """Let connections in; those of HTTP/1.1 are made by ``make``."""
        accepting = Accepting(self.context, door, app, make, listener)
        accepting.begin()
        return accepting


def _context(cert: Path, key: Path) -> ssl.SSLContext:
    for name, path in (("certificate", cert), ("key", key)):
        if "-----BEGIN" in str(path):  # What it holds may be secret, and is not repeated.
            raise ConfigError(f"The TLS {name} is given as the name of a file, not as text.")
        if not os.path.isfile(path):  # Also false for what cannot be the name of a file.
            raise ConfigError(f"There is no file {path} with the TLS {name}.")
        if not os.access(path, os.R_OK):
            raise ConfigError(f"The file {path} with the TLS {name} cannot be read.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    # Before TLS 1.3 only what HTTP/2 allows: fresh keys, and authenticated ciphers.
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    try:
        context.load_cert_chain(cert, key, password=lambda: _refuse_password(key))
    except ssl.SSLError as error:
        raise ConfigError(_trouble(error, cert, key)) from None
    return context


def _refuse_password(key: Path) -> str:
    raise ConfigError(f"The TLS key in {key} has a password: give one without.")


def _trouble(error: ssl.SSLError, cert: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"The TLS key in {key} does not belong to the certificate in {cert}."
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except ssl.SSLError:
        return f"There is no certificate in PEM format in {cert}."
    reason = (error.reason or "").lower().replace("_", " ")
    return f"The TLS key in {key} cannot be used with the certificate in {cert} ({reason})."


class Accepting:
    """Takes connections off a listening socket until it is closed."""

    def __init__(
        self, context: ssl.SSLContext, door: Door, app: App, make: Make, listener: socket.socket
    ) -> None:
        self.context, self.door, self.app, self.make = context, door, app, make
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
                ssl=self._accepting.context,
                ssl_handshake_timeout=limits.head_time,
                ssl_shutdown_timeout=limits.linger,
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
        made = Multiplexed(app, self._door) if agreed == H2 else make()
        inner.set_protocol(made)
        cast(Any, made).connection_made(Sealed(inner))

    # What the door wants: nobody waits for a handshake.

    def look(self, now: float) -> None:
        """The event loop keeps the time of a handshake."""

    def close_idle(self) -> None:
        self.abort()

    def shut(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._shaking.cancel()
