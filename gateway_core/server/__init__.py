"""Serving an application over a socket.

HTTP/1.1 is read and written here, in one way on both event loops: uvloop, which
comes with the ``fast`` extra, and asyncio's own, which is always there. With a
certificate (``tls``) there is HTTP/2, with the same limits (``http2``,
``multiplexed``, ``stream``).

```text
socket ──▶ Connection (limits, framing, time) ──▶ Fast, Cycle ──▶ application
       ──▶ TLS ──▶ Connection, or Http2 ──▶ Stream ──────────────────┘
                  └────── Door (all of them: ticks, too many, stop)
```
"""

import asyncio
import errno
import importlib.util
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Protocol

from ..config.environment import Environment
from ..config.errors import ConfigError
from .door import App, Door, Entrance
from .limits import Limits, limits_of

__all__ = [
    "App",
    "Door",
    "Entrance",
    "Limits",
    "Server",
    "ServerError",
    "choose",
    "entrance_of",
    "limits_of",
    "listen",
    "minds_hangup",
    "run",
    "stop_on_signals",
]

BACKLOG = 2048
UVLOOP, ASYNCIO = NAMES = ("uvloop", "asyncio")
"""Our own server on either event loop."""


class ServerError(Exception):
    """The server cannot be started, with a sentence that says what to do."""


class Server(Protocol):
    """Serves on a listening socket until ``stop`` is set, and then closes in order."""

    @property
    def name(self) -> str: ...

    @property
    def loop(self) -> Callable[[], asyncio.AbstractEventLoop]:
        """Makes the event loop that it serves on."""
        ...

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None: ...


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one. Raises ServerError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        number = error.errno or 0
        # The system's own words: those of ``socket`` repeat the address. Names have no number.
        reason = os.strerror(number) if number > 0 else error.strerror
        told = f"Cannot listen on {host}:{port} ({reason}). {_advice(error)}"
        raise ServerError(told) from None
    listener.setblocking(False)
    return listener


def _advice(error: OSError) -> str:
    if error.errno in (errno.EADDRINUSE, errno.EACCES, errno.EPERM):
        return "If another program uses the port, choose another one with --port."
    return "Choose an address of this machine with --host."


def choose(name: str | None = None) -> Server:
    """The server of that name, or the quickest that is installed. Raises ServerError."""
    if name is not None and name not in NAMES:
        raise ServerError(f"There is no server {name}; choose one of {', '.join(NAMES)}")
    if name == UVLOOP and not _is_installed(name):
        raise ServerError(f"{name} is not installed: pip install 'model-gateway[fast]'")
    loop = asyncio.new_event_loop
    if name != ASYNCIO and _is_installed(UVLOOP):
        import uvloop

        loop = uvloop.new_event_loop
    from .plain import Plain, own

    return Plain(ASYNCIO if loop is asyncio.new_event_loop else UVLOOP, loop, own)


def entrance_of(environment: Environment) -> Entrance | None:
    """The way in over TLS, where a certificate is named. Raises ConfigError."""
    if environment.tls_cert is None:
        if environment.tls_key is not None:
            raise ConfigError(
                "A TLS key needs its certificate: give --tls-cert or GATEWAY_TLS_CERT."
            )
        return None
    # Imported only here, because without TLS nothing of it is needed.
    from .tls import TlsEntrance

    cert = Path(environment.tls_cert).expanduser()
    key = Path(environment.tls_key or environment.tls_cert).expanduser()
    return TlsEntrance(cert, key, http2=environment.http2)


def run(main: Callable[[], Awaitable[None]], chosen: Server | None = None) -> None:
    """Run to the end on the server's event loop, or on the quickest that is installed."""
    with asyncio.Runner(loop_factory=(chosen or choose()).loop) as runner:
        runner.run(_awaited(main))


async def _awaited(main: Callable[[], Awaitable[None]]) -> None:
    await main()


def stop_on_signals(
    stop: asyncio.Event,
    hurry: Callable[[], None],
    signals: Iterable[signal.Signals] = (signal.SIGTERM, signal.SIGINT),
) -> None:
    """Let signals ask for a stop, and a second one for a quick stop.

    So does a terminal that is closed. It may say so twice, which hurries nothing.
    """
    loop = asyncio.get_running_loop()

    def asked() -> None:
        if stop.is_set():
            hurry()
        stop.set()

    for name in signals:
        loop.add_signal_handler(name, asked)
    if minds_hangup():
        loop.add_signal_handler(signal.SIGHUP, stop.set)


def minds_hangup() -> bool:
    """Whether a closed terminal ends the process. It does not where ``nohup`` started it."""
    return hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
