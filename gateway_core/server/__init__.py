"""Serving an application over a socket, by whichever server is there.

``uvicorn`` with httptools and uvloop is quick; it comes with the ``fast`` extra.
``hypercorn`` is always there. Both speak HTTP/1.1 behind the same edge
(``connection``, ``door``), which keeps every limit of size and time and closes
in order. With a certificate (``tls``) there is HTTP/2 beside it, whichever
server runs, with the same limits (``http2``, ``stream``).

```text
socket ──▶ Connection (limits, framing, time) ──▶ uvicorn or hypercorn ──▶ application
       ──▶ TLS ──▶ Connection, or Multiplexed ──▶ Stream ──────────────────────┘
                 └────── Door (all of them: ticks, too many, stop) ──────┘
```
"""

import asyncio
import importlib.util
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
    "run",
    "stop_on_signals",
]

BACKLOG = 2048


class ServerError(Exception):
    """The server cannot be started, with a sentence that says what to do."""


class Server(Protocol):
    """Serves on a listening socket until ``stop`` is set, and then closes in order."""

    name: str

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
        raise ServerError(
            f"Cannot listen on {host}:{port} ({error.strerror}). "
            "If another program uses the port, choose another one with --port."
        ) from None
    listener.setblocking(False)
    return listener


def choose(name: str | None = None) -> Server:
    """The server of that name, or the quickest that is installed. Raises ServerError."""
    if name in (None, "uvicorn") and _is_installed("uvicorn"):
        from .fast import Uvicorn

        return Uvicorn()
    if name == "uvicorn":
        raise ServerError("uvicorn is not installed: pip install 'model-gateway[fast]'")
    if name in (None, "hypercorn"):
        from .portable import Hypercorn

        return Hypercorn()
    raise ServerError(f"There is no server {name}; choose uvicorn or hypercorn")


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

    cert = environment.tls_cert
    key = environment.tls_key or cert
    return TlsEntrance(Path(cert).expanduser(), Path(key).expanduser(), http2=environment.http2)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run to the end on the quickest event loop that is installed."""
    if _is_installed("uvloop"):
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_awaited(main))
    else:
        asyncio.run(_awaited(main))


async def _awaited(main: Callable[[], Awaitable[None]]) -> None:
    await main()


def stop_on_signals(
    stop: asyncio.Event,
    hurry: Callable[[], None],
    signals: Iterable[signal.Signals] = (signal.SIGTERM, signal.SIGINT),
) -> None:
    """Let signals ask for a stop, and a second one for a quick stop."""
    loop = asyncio.get_running_loop()

    def asked() -> None:
        if stop.is_set():
            hurry()
        stop.set()

    for name in signals:
        loop.add_signal_handler(name, asked)


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
