"""Serving with hypercorn as it is shipped, through its own configuration.

hypercorn reads the certificate once and keeps limits of its own; of ours it takes those that it
has an option for.
"""

import asyncio
import importlib.util
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import hypercorn.asyncio
from hypercorn.config import Config

from ..contracts.asgi import App
from ..contracts.server import ServerOptions
from .listening import BACKLOG, ServerError

QUIC = "aioquic"
"""The package that hypercorn's extra ``h3`` installs."""


class HypercornServer:
    """hypercorn in one process."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options

    async def serve(
        self, app: App, listener: socket.socket, wait_for_stop: Callable[[], Awaitable[object]]
    ) -> None:
        """Raises ServerError."""
        config = self._config(listener)
        config.bind = [f"fd://{listener.detach()}"]
        loop, options = asyncio.get_running_loop(), self._options

        async def stop() -> None:
            await wait_for_stop()
            # hypercorn cancels what still runs after the same time, and tells nobody before.
            loop.call_later(options.limits.drain, options.before_cancel)

        try:
            await hypercorn.asyncio.serve(cast(Any, app), config, shutdown_trigger=stop)
        except OSError as error:
            raise ServerError(f"hypercorn cannot serve: {error}") from None

    def _config(self, listener: socket.socket) -> Config:
        limits, certificate = self._options.limits, self._options.certificate
        config = Config()
        config.errorlog = logging.getLogger("hypercorn.error")
        config.backlog = BACKLOG
        config.include_server_header = False
        config.graceful_timeout = limits.drain
        config.shutdown_timeout = limits.drain + limits.short_drain
        config.keep_alive_timeout = limits.keep_alive
        config.ssl_handshake_timeout = limits.head_time
        config.h11_max_incomplete_size = limits.request_line + limits.head
        config.h2_max_header_list_size = limits.request_line + limits.head
        if certificate is not None:
            config.certfile, config.keyfile = str(certificate.cert), str(certificate.key)
            config.alpn_protocols = ["h2", "http/1.1"] if self._options.http2 else ["http/1.1"]
            # A QUIC connection belongs to one process: RFC 9000, section 5.1.
            if self._options.workers == 1 and importlib.util.find_spec(QUIC) is not None:
                host, port = listener.getsockname()[:2]
                config.quic_bind = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"]
        return config

    def shorten_drain(self) -> None:
        """hypercorn has no such thing: its time to drain is fixed when it starts."""

    def close_idle(self) -> None:
        """hypercorn has no such thing: idle connections end after their time to keep alive."""
