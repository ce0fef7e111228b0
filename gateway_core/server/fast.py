"""Serving with uvicorn's HTTP/1.1 protocol over httptools: the quick way."""

import asyncio
import socket
from email.utils import formatdate
from time import time
from typing import Any
from urllib.parse import unquote

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .connection import BODY, HEAD, Connection
from .cycle import Cycle
from .door import App, Door, stopping
from .heads import path_of
from .limits import Limits

ASGI = {"version": "3.0", "spec_version": "2.3"}


class Fast(Connection, HttpToolsProtocol):
    """One connection."""

    cycle: Cycle | None  # type: ignore[assignment]
    """The request that came last."""

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
        cycle, self.cycle = self.cycle, None
        if cycle is not None:
            cycle.leave()
        HttpToolsProtocol.connection_lost(self, exc)

    def is_behind(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def may_refuse(self) -> bool:
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        if self.phase != BODY or self.pipeline or cycle.response_started:
            return False
        cycle.leave()
        return True

    def on_message_begin(self) -> None:
        self.begun()
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase != HEAD:
            return  # Trailers come this way too, and are dropped.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.checked()
        parser, before = self.parser, self.cycle
        version = parser.get_http_version()
        cycle = self.cycle = Cycle(
            self._scope(version),
            self.transport,
            self.flow,
            self.server_state.default_headers,
            self.on_response_complete,
            expects_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
        )
        if before is None or before.response_complete:
            self._start(cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))  # type: ignore[arg-type]

    def _scope(self, version: str) -> dict[str, Any]:
        raw, _, query = (self.url if self.url[:1] == b"/" else path_of(self.url)).partition(b"?")
        path = raw.decode("ascii")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": self.parser.get_method().decode("ascii"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "headers": self.headers,
            "state": {},
        }

    def _start(self, cycle: Cycle, app: App) -> None:
        task = self.loop.create_task(cycle.run(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_body(self, body: bytes) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.take(body)

    def on_message_complete(self) -> None:
        self.completed()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.complete()

    def passed(self, data: bytes) -> None:
        if self.deaf and self.cycle is not None:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start(*self.pipeline.pop())  # type: ignore[arg-type]
        else:
            self.answered()

    def shut(self) -> None:
        self.app = stopping
        if self.cycle is not None and not self.cycle.response_complete:
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
        await door.attend(app, lambda: Fast(config, state, door), listener, stop)
