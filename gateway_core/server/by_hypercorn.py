"""Serving with hypercorn's HTTP/1.1, behind our edge."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, cast

import h11
from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import AppWrapper, ConnectionState
from hypercorn.utils import parse_socket_addr, wrap_app
from msgspec import Struct

from .door import App, Door
from .front import Front
from .limits import Limits
from .plain import dated

log = logging.getLogger(__name__)

BUFFER = 64 * 1024
NEVER = 10**9
"""Requests, for a limit that the edge keeps in hypercorn's place."""


class Http1(H11Protocol):
    """hypercorn's part of a connection."""

    async def _check_protocol(self, event: h11.Request) -> None:
        """Nothing else is spoken here."""


class Streams(asyncio.StreamReaderProtocol):
    """Carries bytes between a connection and hypercorn's protocol."""

    def __init__(self, app: AppWrapper, config: Config, context: WorkerContext) -> None:
        self._loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(BUFFER, self._loop)
        super().__init__(self.reader, loop=self._loop)
        self.app, self.config, self.context = app, config, context
        self._writer: asyncio.StreamWriter
        self._protocol: Http1
        self._serving: asyncio.Task[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        inner = cast(asyncio.WriteTransport, transport)
        self._writer = asyncio.StreamWriter(inner, self, self.reader, self._loop)
        self._serving = self._loop.create_task(self._serve())

    async def _serve(self) -> None:
        try:
            async with TaskGroup(self._loop) as group:
                self._protocol = self._made(group)
                while data := await self.reader.read(BUFFER):
                    await self._protocol.handle(RawData(data))
                await self._protocol.handle(Closed())
        except Exception:
            log.exception("a connection failed")
            self._writer.transport.abort()

    def _made(self, group: TaskGroup) -> Http1:
        told = self._writer.get_extra_info
        sock = told("socket")
        return Http1(
            self.app,
            self.config,
            self.context,
            group,
            ConnectionState(cast(Any, {})),
            told("ssl_object") is not None,
            parse_socket_addr(sock.family, told("peername")),
            parse_socket_addr(sock.family, told("sockname")),
            self._send,
        )

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            try:
                self._writer.write(event.data)
                await self._writer.drain()
            except ConnectionError:
                await self._protocol.handle(Closed())
        elif isinstance(event, Closed):
            self._writer.close()


class Hypercorn(Struct, frozen=True):
    loop: Callable[[], asyncio.AbstractEventLoop]
    name: str = "hypercorn"

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        limits, usual = door.limits, dated(door)
        config = Config()
        config.accesslog = None
        config.errorlog = logging.getLogger("hypercorn.error")
        config.include_date_header = config.include_server_header = False
        config.keep_alive_max_requests = NEVER
        config.h11_max_incomplete_size = 2 * (limits.request_line + limits.head + BUFFER)
        context = WorkerContext(None)

        def behind(app: App) -> Streams:
            return Streams(wrap_app(cast(Any, app), 0, "asgi"), config, context)

        await door.attend(app, lambda: Front(app, door, usual, behind), listener, stop)
