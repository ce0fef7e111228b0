"""Serving with uvicorn's HTTP/1.1 protocol over httptools: the quick way."""

import asyncio
import socket
from email.utils import formatdate
from time import time

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .connection import BODY, HEAD, Connection
from .door import App, Door, stopping
from .heads import path_of
from .limits import Limits


class Fast(Connection, HttpToolsProtocol):
    """One connection."""

    def __init__(self, config: uvicorn.Config, state: ServerState, door: Door) -> None:
        HttpToolsProtocol.__init__(self, config, state, {}, asyncio.get_running_loop())
        Connection.__init__(self, door)
        if door.closing:
            self.app = stopping

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self.admitted(transport):
            HttpToolsProtocol.connection_made(self, transport)  # type: ignore[arg-type]

    def connection_lost(self, exc: Exception | None) -> None:
        self.left()
        HttpToolsProtocol.connection_lost(self, exc)

    def is_behind(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def may_refuse(self) -> bool:
        if not self.is_behind():
            return True
        if self.phase != BODY or self.pipeline or self.cycle.response_started:
            return False
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        return True

    def on_message_begin(self) -> None:
        self.begun()
        HttpToolsProtocol.on_message_begin(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase != HEAD:
            return  # Trailers come this way too, and are dropped.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.checked()
        if self.url[:1] != b"/":
            self.url = path_of(self.url)
        HttpToolsProtocol.on_headers_complete(self)

    def on_message_complete(self) -> None:
        self.completed()
        HttpToolsProtocol.on_message_complete(self)

    def passed(self, data: bytes) -> None:
        if self.deaf and self.cycle is not None:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.answered()

    def shut(self) -> None:
        self.app = stopping
        if self.is_behind():
            self.cycle.keep_alive = False
        Connection.shut(self)


class Uvicorn:
    name = "uvicorn"

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
        )
        config.load()
        state = ServerState()
        state.tasks = door.tasks

        def tell_date() -> None:
            state.default_headers = [(b"date", formatdate(time(), usegmt=True).encode())]

        door.ticks.append(tell_date)
        loop = asyncio.get_running_loop()
        made = loop.create_server(lambda: Fast(config, state, door), sock=listener)
        await door.attend(made, stop)
