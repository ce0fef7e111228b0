"""The server: it accepts connections, plain or over TLS, and hands them to a protocol."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from time import time

from gateway_core import ServerOptions

from .connections import BACKLOG, App, ConnectionManager
from .http1.protocol import Http1Protocol
from .http1.response_head import CommonHeaders


class FastServer:
    """A server in one process."""

    def __init__(self, options: ServerOptions) -> None:
        self._certificate = options.certificate
        self.manager = ConnectionManager(options.limits, options.before_cancel)

    async def serve(
        self, app: App, listener: socket.socket, wait_for_stop: Callable[[], Awaitable[object]]
    ) -> None:
        """Serve until a stop is requested, then drain."""
        manager = self.manager
        common = dated_headers(manager)
        manager.tick()

        def create_http1() -> Http1Protocol:
            return Http1Protocol(app, manager, common)

        if self._certificate is not None:
            # Imported only here, because without TLS nothing of it is needed.
            from .tls.listener import TlsListener

            accepting = TlsListener(self._certificate, manager, app, create_http1, listener)
            accepting.start()
            await manager.serve(accepting, wait_for_stop)
        else:
            # asyncio calls listen() on the socket again, with its own default of 100.
            loop = asyncio.get_running_loop()
            server = await loop.create_server(create_http1, sock=listener, backlog=BACKLOG)
            await manager.serve(server, wait_for_stop)

    async def retire(self) -> None:
        await self.manager.retire()

    def shorten_drain(self) -> None:
        self.manager.shorten_drain()

    def close_idle(self) -> None:
        self.manager.close_idle()


def dated_headers(manager: ConnectionManager) -> CommonHeaders:
    """The headers of every response. The date is formatted once a tick: RFC 9110, section 6.6.1."""
    headers = CommonHeaders()
    manager.ticks.append(
        lambda: headers.replace((b"date", formatdate(time(), usegmt=True).encode()))
    )
    return headers
