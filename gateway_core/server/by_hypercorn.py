"""Serving with hypercorn's HTTP/1.1, behind our edge."""

import asyncio
import logging
from typing import Any, cast

from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import AppWrapper, ConnectionState
from hypercorn.utils import parse_socket_addr, wrap_app

from .door import App, Door, Make
from .flow import Flow
from .front import Front
from .plain import dated

log = logging.getLogger(__name__)

BUFFER = 64 * 1024
NEVER = 10**9
"""Requests, for a limit that the edge keeps in hypercorn's place."""


class Http1(H11Protocol):
    """hypercorn's part of a connection."""

    async def _check_protocol(self, event: Any) -> None:
        """Nothing else is spoken here."""


class Carrier(asyncio.Protocol):
    """Carries bytes between a connection and hypercorn's protocol."""

    def __init__(self, app: AppWrapper, config: Config, context: WorkerContext) -> None:
        self._loop = asyncio.get_running_loop()
        self.app, self.config, self.context = app, config, context
        self._pieces: list[bytes] = []
        self._size = 0
        self._awaited: asyncio.Future[None] | None = None
        self._is_over = False
        self._flow: Flow
        self._transport: asyncio.Transport
        self._protocol: Http1
        self._serving: asyncio.Task[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._flow = Flow(self._transport)
        self._serving = self._loop.create_task(self._serve())

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over = True
        self._flow.resume_writing()
        self._wake()

    def pause_writing(self) -> None:
        self._flow.pause_writing()

    def resume_writing(self) -> None:
        self._flow.resume_writing()

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > BUFFER:
            self._flow.pause_reading()
        self._wake()

    def _wake(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

    async def _next(self) -> bytes:
        """What has come; nothing once the client is gone."""
        if not (self._pieces or self._is_over):
            self._awaited = self._loop.create_future()
            await self._awaited
        data, self._size = b"".join(self._pieces), 0
        self._pieces.clear()
        self._flow.resume_reading()
        return data

    async def _serve(self) -> None:
        try:
            async with TaskGroup(self._loop) as group:
                self._protocol = self._made(group)
                while data := await self._next():
                    await self._protocol.handle(RawData(data))
                await self._protocol.handle(Closed())
        except Exception:
            log.exception("a connection failed")
            self._transport.abort()

    def _made(self, group: TaskGroup) -> Http1:
        told = self._transport.get_extra_info
        family = told("socket").family
        return Http1(
            self.app,
            self.config,
            self.context,
            group,
            ConnectionState(cast(Any, {})),
            told("ssl_object") is not None,
            parse_socket_addr(family, told("peername")),
            parse_socket_addr(family, told("sockname")),
            self._send,
        )

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            self._transport.write(event.data)
            await self._flow.drain()
        elif isinstance(event, Closed):
            self._transport.close()


def by_hypercorn(app: App, door: Door) -> Make:
    """hypercorn's protocol behind the edge, for connections of HTTP/1.1."""
    limits, usual = door.limits, dated(door)
    config = Config()
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_date_header = config.include_server_header = False
    config.keep_alive_max_requests = NEVER
    config.h11_max_incomplete_size = 2 * (limits.request_line + limits.head + BUFFER)
    context = WorkerContext(None)

    def behind(app: App) -> Carrier:
        return Carrier(wrap_app(cast(Any, app), 0, "asgi"), config, context)

    return lambda: Front(app, door, usual, behind)
