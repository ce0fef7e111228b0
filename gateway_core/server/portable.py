"""Serving with hypercorn, behind the same edge: the way that needs nothing compiled but a parser.

hypercorn reads requests with h11, which is laxer than we are and knows no
limits of time. So what comes is read twice: by the edge, which lets through
what is in order, and then by hypercorn.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import httptools
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Event, Updated
from hypercorn.utils import wrap_app

from .connection import BODY, BUSY, HEAD, IDLE, Connection
from .door import App, Door, Message, stopping
from .heads import path_of
from .limits import Limits

log = logging.getLogger(__name__)

BUFFER = 64 * 1024
NEVER = 10**9
"""Seconds, or requests, for limits that the edge keeps in hypercorn's place."""
Receive = Callable[[], Awaitable[Message]]
CLOSE = (b"connection", b"close")
_upgrade = re.compile(rb"\r\nupgrade[ \t]*:", re.IGNORECASE)


class Writer(asyncio.StreamWriter):
    """Sends a head together with what follows; closes without cutting off a client that sends."""

    front: "Front"
    is_head = False
    """What is written next is the head of an answer."""
    _head = b""

    def write(self, data: Any) -> None:
        if self.is_head:
            self.is_head, self._head = False, data
            self.front.loop.call_soon(self._flush)
        elif self._head:
            data, self._head = self._head + data, b""
            super().write(data)
        else:
            super().write(data)

    def _flush(self) -> None:
        """Let a head go ahead of a body that is late."""
        head, self._head = self._head, b""
        if head and not self.transport.is_closing():
            super().write(head)

    def close(self) -> None:
        if self.front.phase in (HEAD, BODY) and not self.front.lingering:
            self.front.hang_up()
        elif not self.front.lingering:
            super().close()

    async def wait_closed(self) -> None:
        if not self.front.lingering:
            await super().wait_closed()


class Carrier(TCPServer):
    """hypercorn's part of a connection, without its clock: the edge keeps the time."""

    async def protocol_send(self, event: Event) -> None:
        if not isinstance(event, Updated):
            await super().protocol_send(event)


class Front(Connection, asyncio.StreamReaderProtocol):
    """One connection: lets through what is in order, and nothing of a head before its end."""

    def __init__(self, app: App, config: Config, context: WorkerContext, door: Door) -> None:
        self.loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(BUFFER, self.loop)
        asyncio.StreamReaderProtocol.__init__(self, self.reader, loop=self.loop)
        Connection.__init__(self, door)
        self.parser = httptools.HttpRequestParser(self)
        self.app, self.config, self.context = app, config, context
        self.url, self.headers = b"", []
        self._held = b""
        """The beginning of a head."""
        self._has_head = False
        self._has_body = False
        self._running = 0
        self._writer: Writer
        self._started = False
        self._has_ended = False
        self._serving: asyncio.Task[None] | None = None
        self._discarding: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self.admitted(transport):
            asyncio.StreamReaderProtocol.connection_made(self, transport)
            writer = Writer(self.transport, self, self.reader, self.loop)
            writer.front = self
            self._writer = writer
            self._serving = self.loop.create_task(self._serve(writer))

    def connection_lost(self, exc: Exception | None) -> None:
        self.left()
        self._stop_discarding()
        asyncio.StreamReaderProtocol.connection_lost(self, exc)
        self._rest()

    def eof_received(self) -> bool:
        """The client has nothing more to say; it may still wait for an answer."""
        self._has_ended = True
        asyncio.StreamReaderProtocol.eof_received(self)
        if self.phase in (IDLE, HEAD) or self.lingering:
            self.transport.close()
        return self.transport.can_write_eof()

    def _rest(self) -> None:
        """End hypercorn's part, which would wait for its own idle time when all is over."""
        if self._has_ended and not self._running:
            self.transport.close()
        if self._serving is not None and self.transport.is_closing() and not self._running:
            self.loop.call_soon(self._serving.cancel)

    def is_behind(self) -> bool:
        return self._running > 0

    def may_refuse(self) -> bool:
        may = not self._running or (self.phase == BODY and not self._started)
        self.reader.feed_eof()
        return may

    def passed(self, data: bytes) -> None:
        if self.phase == HEAD and not self._has_head:
            self._held += data
            return
        data, self._held, self._has_head = self._held + data, b"", False
        if self.deaf and not self._has_body:
            data = _upgrade.sub(b"\r\nignored:", data)
        asyncio.StreamReaderProtocol.data_received(self, data)

    def on_message_begin(self) -> None:
        self.begun()
        self.url, self.headers, self._has_body = b"", [], False

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase == HEAD:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.checked()
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._has_body = True

    def on_message_complete(self) -> None:
        self.completed()

    async def _serve(self, writer: Writer) -> None:
        app = wrap_app(cast(Any, self._answer), 0, "asgi")
        try:
            await Carrier(
                app, self.loop, self.config, self.context, cast(Any, {}), self.reader, writer
            )
        except Exception:
            log.exception("a connection failed")
            self.transport.abort()

    async def _answer(
        self,
        scope: Message,
        receive: Receive,
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """The application of this connection: ours, and told how far it is."""
        task = asyncio.current_task()
        assert task is not None
        if scope["raw_path"][:1] != b"/":
            _simplify(scope)

        async def told(message: Message) -> None:
            is_body = self._noted(message)["type"] == "http.response.body"
            is_last = is_body and not message.get("more_body")
            if is_last:
                self._discard(receive)
            await send(message)
            if is_last:
                self._stop_discarding()

        if self.phase == IDLE:
            self.phase = BUSY  # It came together with the one before it.
        self._running, self._started = self._running + 1, False
        self.door.tasks.add(task)
        try:
            await (stopping if self.door.closing else self.app)(scope, receive, told)
        except BaseException:
            self._discard(receive)
            raise
        finally:
            self.door.tasks.discard(task)
            self._running -= 1
            if self.phase == BUSY:
                self.answered()
            self._rest()

    def _noted(self, message: Message) -> Message:
        """Look at what the application sends; say that the connection closes, where it does."""
        if message["type"] == "http.response.start":
            self._started = self._writer.is_head = True
            if self.door.closing or self.deaf:
                message["headers"] = [*message.get("headers", ()), CLOSE]
        return message

    def _discard(self, receive: Receive) -> None:
        """Take the rest of a body that nobody reads: hypercorn waits for that before it closes."""
        if self.phase == BODY and self._discarding is None:
            self._discarding = self.loop.create_task(_take_all(receive))

    def _stop_discarding(self) -> None:
        if self._discarding is not None:
            self._discarding.cancel()
            self._discarding = None


async def _take_all(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


def _simplify(scope: Message) -> None:
    """Give an absolute target the path that it is for."""
    raw, path = scope["raw_path"], scope["path"]
    scope["raw_path"] = path_of(raw).partition(b"?")[0]
    scope["path"] = "/" + path.partition("://")[2].partition("/")[2]


class Hypercorn:
    name = "hypercorn"

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        config = Config()
        config.accesslog = None
        config.loglevel = "WARNING"
        config.include_server_header = False
        config.keep_alive_timeout = NEVER
        config.keep_alive_max_requests = NEVER
        limits = door.limits
        config.h11_max_incomplete_size = 2 * (limits.request_line + limits.head + BUFFER)
        context = WorkerContext(None)
        await door.attend(app, lambda: Front(app, config, context, door), listener, stop)
