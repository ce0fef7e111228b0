"""Serving an application over a socket, by whichever server is there.

``uvicorn`` with httptools and uvloop is quick and speaks plain HTTP/1.1; it
comes with the ``fast`` extra. ``hypercorn`` is always there. Both are asked
for the same: no access log, no version in a header, a bounded stop.
"""

import asyncio
import importlib.util
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, cast

App = Callable[..., Awaitable[None]]
GRACE = 30.0
"""Seconds that running answers may take after a stop was asked for."""
KEEP_ALIVE = 15.0
BACKLOG = 2048


class ServerError(Exception):
    """The server cannot be started, with a sentence that says what to do."""


class Server(Protocol):
    """Serves on a listening socket until ``stop`` is set."""

    name: str

    async def serve(self, app: App, listener: socket.socket, stop: asyncio.Event) -> None: ...


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


class Uvicorn:
    name = "uvicorn"

    async def serve(self, app: App, listener: socket.socket, stop: asyncio.Event) -> None:
        import uvicorn

        class Quiet(uvicorn.Server):
            """Leaves the process's signals alone."""

            @contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield

        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(KEEP_ALIVE),
            timeout_graceful_shutdown=int(GRACE),
        )
        server = Quiet(config)

        async def until_stopped() -> None:
            await stop.wait()
            server.should_exit = True

        watch = asyncio.create_task(until_stopped())
        try:
            await server.serve(sockets=[listener])
        finally:
            watch.cancel()
            await asyncio.wait((watch,))


class Hypercorn:
    name = "hypercorn"

    async def serve(self, app: App, listener: socket.socket, stop: asyncio.Event) -> None:
        from hypercorn.asyncio import serve
        from hypercorn.config import Config

        config = Config()
        config.bind = [f"fd://{listener.detach()}"]
        config.accesslog = None
        config.loglevel = "WARNING"
        config.include_server_header = False
        config.graceful_timeout = GRACE
        config.keep_alive_timeout = KEEP_ALIVE

        async def until_stopped() -> None:
            await stop.wait()

        await serve(cast(Any, app), config, shutdown_trigger=until_stopped)


def choose(name: str | None = None) -> Server:
    """The server of that name, or the quickest that is installed. Raises ServerError."""
    if name in (None, "uvicorn") and _is_installed("uvicorn") and _is_installed("httptools"):
        return Uvicorn()
    if name == "uvicorn":
        raise ServerError("uvicorn is not installed: pip install 'model-gateway[fast]'")
    if name in (None, "hypercorn"):
        return Hypercorn()
    raise ServerError(f"There is no server {name}; choose uvicorn or hypercorn")


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


def stop_on_signals(stop: asyncio.Event) -> None:
    """Let SIGTERM and SIGINT ask for a stop."""
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
