"""Serving with hypercorn as it is shipped, through its own configuration.

hypercorn reads the certificate once and keeps limits of its own; of ours it takes those that it
has an option for.
"""

import asyncio
import importlib.util
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

import hypercorn.asyncio
from hypercorn.config import Config

from gateway_core.contracts.asgi import ON_STOP, App, Receive, Scope, Send
from gateway_core.contracts.server import ServerOptions

from .listening import BACKLOG, ServerError

QUIC = "aioquic"
"""The package that hypercorn's extra ``h3`` installs."""
LONGEST_RETIREMENT = 7 * 24 * 3600.0
"""Seconds that hypercorn waits for requests once it is retired; the gateway ends that before."""
POLL = 0.05
"""Seconds between two looks at what still runs."""
STOPPING = b'{"error":"The gateway is stopping"}'
STOPPING_HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(STOPPING)),
    (b"retry-after", b"1"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class HypercornServer:
    """hypercorn in one process."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._running = 0
        """Requests that the application is answering."""
        self._is_draining = False
        self._retired = asyncio.Event()
        self._on_stop: dict[int, Callable[[], None]] = {}
        """What sockets want to be called when a stop is requested, each under its scope's id."""
        self._deadline = 0.0

    async def serve(
        self, app: App, listener: socket.socket, wait_for_stop: Callable[[], Awaitable[object]]
    ) -> None:
        """Raises ServerError."""
        config = self._config(listener)

        async def wait_for_end() -> None:
            """hypercorn accepts until this returns, and then waits for what runs."""
            retired = asyncio.create_task(self._retired.wait())
            await asyncio.wait((draining, retired), return_when=asyncio.FIRST_COMPLETED)
            retired.cancel()
            if self._retired.is_set():
                config.graceful_timeout = LONGEST_RETIREMENT

        draining = asyncio.create_task(self._drain_after(wait_for_stop))
        serving = asyncio.create_task(
            hypercorn.asyncio.serve(
                cast(Any, self._counting(app)), config, shutdown_trigger=wait_for_end
            )
        )
        try:
            await asyncio.wait((serving, draining), return_when=asyncio.FIRST_COMPLETED)
            if self._retired.is_set():
                await asyncio.wait((serving,), timeout=self._options.limits.short_drain)
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving
            else:
                await serving
        except OSError as error:
            raise ServerError(f"hypercorn cannot serve: {error}") from None
        finally:
            draining.cancel()

    def _counting(self, app: App) -> App:
        """The application, with its requests counted, and refused once the server drains."""

        async def count_requests(scope: Scope, receive: Receive, send: Send) -> None:
            if self._is_draining and scope["type"] == "websocket":
                await send({"type": "websocket.close"})
                return
            if self._is_draining and scope["type"] == "http":
                start = "http.response.start"
                await send({"type": start, "status": 503, "headers": STOPPING_HEADERS})
                await send({"type": "http.response.body", "body": STOPPING, "more_body": False})
                return
            is_request = scope["type"] != "lifespan"
            if scope["type"] == "websocket":
                scope[ON_STOP] = partial(self._call_on_stop, id(scope))
            self._running += is_request
            try:
                await app(scope, receive, send)
            finally:
                self._running -= is_request
                self._on_stop.pop(id(scope), None)

        return count_requests

    async def _drain_after(self, wait_for_stop: Callable[[], Awaitable[object]]) -> None:
        # hypercorn waits for TLS connections whose clients have gone for as long as it waits
        # for requests: it is given a short time only, after no request runs here.
        await wait_for_stop()
        clock = asyncio.get_running_loop().time
        self._is_draining, self._deadline = True, clock() + self._options.limits.drain
        for callback in tuple(self._on_stop.values()):
            callback()
        while self._running and clock() < self._deadline:
            await asyncio.sleep(POLL)
        if self._running:
            self._options.before_cancel()

    async def retire(self) -> None:
        """hypercorn closes connections without a request at once."""
        self._retired.set()
        while self._running:
            await asyncio.sleep(POLL)

    def _call_on_stop(self, scope_id: int, callback: Callable[[], None]) -> None:
        if self._is_draining:
            callback()
        else:
            self._on_stop[scope_id] = callback

    def _config(self, listener: socket.socket) -> Config:
        limits, certificate = self._options.limits, self._options.certificate
        config = Config()
        config.errorlog = logging.getLogger("hypercorn.error")
        # A descriptor of its own, because hypercorn closes the one it serves on.
        config.bind = [f"fd://{os.dup(listener.fileno())}"]
        config.backlog = BACKLOG
        config.include_server_header = False
        config.graceful_timeout = limits.short_drain
        config.keep_alive_timeout = limits.keep_alive
        config.ssl_handshake_timeout = limits.head_time
        config.h11_max_incomplete_size = limits.request_line + limits.head
        config.h2_max_header_list_size = limits.request_line + limits.head
        config.websocket_max_message_size = limits.message
        config.websocket_ping_interval = limits.ping
        if certificate is not None:
            config.certfile, config.keyfile = str(certificate.cert), str(certificate.key)
            config.alpn_protocols = ["h2", "http/1.1"] if self._options.http2 else ["http/1.1"]
            # A QUIC connection belongs to one process: RFC 9000, section 5.1.
            if self._options.workers == 1 and importlib.util.find_spec(QUIC) is not None:
                host, port = listener.getsockname()[:2]
                config.quic_bind = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"]
        return config

    def shorten_drain(self) -> None:
        """Give running requests only a moment more."""
        clock = asyncio.get_running_loop().time
        self._deadline = min(self._deadline, clock() + self._options.limits.short_drain)

    def close_idle(self) -> None:
        """hypercorn has no such thing: idle connections end after their time to keep alive."""
