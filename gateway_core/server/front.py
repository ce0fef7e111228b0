"""The edge before another server's HTTP/1.1.

```text
socket ──▶ Front (limits, framing, time) ──what is in order──▶ a protocol of uvicorn or hypercorn
             ▲                                                        │
             └──────── Behind (writes, closes) ◀── application ◀──────┘
```

Those servers keep no limits of time on a head, and less of sizes and framing than is asked of us.
So a request is read twice: here, and then by them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

import httptools

from ..contracts.asgi import ON_DISCONNECT
from .connection import BODY, HEAD, Connection
from .cycle import FAILED, FAILED_HEADERS, LONG, Header, Usual
from .door import App, Door, Message, stopping
from .flow import Flow
from .heads import path_of
from .passing import Bytes, Passing

log = logging.getLogger(__name__)

Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
CLOSE: Header = (b"connection", b"close")


class Front(Connection, asyncio.Protocol):
    """One connection: lets through what is in order, and nothing of a head before its end."""

    def __init__(
        self, app: App, door: Door, usual: Usual, make: Callable[[App], asyncio.Protocol]
    ) -> None:
        """``make`` makes the other server's protocol for an application."""
        super().__init__(door)
        self.app, self.usual = app, usual
        self.parser = httptools.HttpRequestParser(self)
        # A client may say that it closes, and still send what was to come before.
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.url, self.headers = b"", []
        self._held = b""
        """The beginning of a head."""
        self._has_head = False
        """A head has come to its end in the current piece."""
        self._asked = 0
        """Requests that were let in, and are not answered yet."""
        self._exchange: Exchange | None = None
        """The first of them."""
        self._server = make(self._answer)
        self.behind: Behind
        self.is_over = True
        """The other server knows nothing of the client, or takes it for gone."""
        self._flow: Flow

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self.admitted(transport):
            self.is_over = False
            self._flow = Flow(self.transport)
            self.behind = Behind(self.transport, self)
            self._server.connection_made(self.behind)

    def connection_lost(self, exc: Exception | None) -> None:
        self.left()
        self._leave()
        self.parser = None  # It holds this object as this object holds it.

    def _leave(self) -> None:
        if not self.is_over:
            self.is_over = True
            if self._exchange is not None:
                self._exchange.leave()
            self._server.connection_lost(None)

    def pause_writing(self) -> None:
        self._server.pause_writing()

    def resume_writing(self) -> None:
        self._server.resume_writing()

    # What is in order and in time.

    def is_behind(self) -> bool:
        return self._asked > 0

    def may_refuse(self) -> bool:
        if not self._asked:
            return True
        return self.phase == BODY and self._asked == 1 and not self._has_begun()

    def _has_begun(self) -> bool:
        return self._exchange is not None and self._exchange.has_begun

    def is_last(self) -> bool:
        """Whether the connection closes after the answer that begins now."""
        return self.door.closing or self.deaf or (self.phase == BODY and self._asked == 1)

    def passed(self, data: bytes) -> None:
        if self.phase == HEAD and not self._has_head:
            self._held += data
            return
        data, self._held, self._has_head = self._held + data, b"", False
        if not self.is_over:
            self._server.data_received(data)

    def hang_up(self) -> None:
        if not self.lingering:
            self.behind.flush()
            super().hang_up()
            self._leave()

    def look(self, now: float) -> None:
        if self._flow.silence(now) > self.door.limits.body_silence:
            self.transport.abort()
        else:
            super().look(now)

    # What the parser tells.

    def on_message_begin(self) -> None:
        self.begun()
        self.url, self.headers = b"", []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase == HEAD:  # Trailers come this way too.
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.checked()
        self._has_head = True
        self._asked += 1

    def on_message_complete(self) -> None:
        self.completed()

    # What the other server does.

    def close(self) -> None:
        """Close once what was written is out; a client that still sends is let read it first."""
        if self.is_over:
            return
        self.behind.flush()
        if self.phase in (HEAD, BODY):
            self.hang_up()
        else:
            self.transport.close()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        """The application of this connection: ours, and looked after."""
        exchange = self._exchange = Exchange(self, receive, send)
        if scope["raw_path"][:1] != b"/":
            _simplify(scope)
        try:
            await exchange.run(stopping if self.door.closing else self.app, scope)
        finally:
            self.done(exchange)

    def done(self, exchange: "Exchange") -> None:
        """An answer is out, though its application may have more to do, or there will be none."""
        if exchange.is_done:
            return
        exchange.is_done = True
        if self._exchange is exchange:
            self._exchange = None
        self._asked -= 1
        self.behind.flush()
        if not (self._asked or self.is_over):
            self.answered()


class Exchange:
    """One request and its answer, and how far that is."""

    def __init__(self, front: Front, receive: Receive, send: Send) -> None:
        self._front, self._receive, self._send = front, receive, send
        self.has_begun = self.is_done = self._has_ended = self._is_taken = False
        self._told: Callable[[], None] | None = None

    async def run(self, app: App, scope: Message) -> None:
        """Have a request answered, whatever happens to the application."""
        task, tasks = asyncio.current_task(), self._front.door.tasks
        assert task is not None
        tasks.add(task)
        scope[ON_DISCONNECT] = self.leaving
        try:
            await app(scope, self._receive, self.send)
        except BaseException:
            log.exception("a request failed")
            await self._fail()
        else:
            if not (self._has_ended or self._front.is_over):
                log.error("a request was left without an end of its answer")
                await self._fail()
        finally:
            self._take_rest()
            self._told = None
            scope.pop(
                ON_DISCONNECT, None
            )  # It holds this object, which may hold the scope in turn.
            tasks.discard(task)

    def leaving(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once, if the client leaves before the answer has ended."""
        if self._front.is_over:
            told()
        else:
            self._told = told

    def leave(self) -> None:
        """Nobody waits for the rest of the answer."""
        if self._told is not None and not self._has_ended:
            told, self._told = self._told, None
            told()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message, self.has_begun = self._dressed(message), True
        elif not message.get("more_body", False):
            self._has_ended = True
            self._take_rest()
        await self._send(message)
        if self._has_ended:
            self._front.done(self)

    def _dressed(self, message: Message) -> Message:
        """The head of an answer, with what every one has."""
        front = self._front
        front.behind.is_head_next = True
        last = (CLOSE,) if front.is_last() else ()
        return {**message, "headers": [*front.usual.headers, *message.get("headers", ()), *last]}

    def _take_rest(self) -> None:
        """Have somebody take what still comes of the request: hypercorn waits for that."""
        if self._front.phase == BODY and not self._is_taken:
            self._is_taken = True
            task = asyncio.create_task(_take_all(self._receive, self._front.door.limits.linger))
            task.add_done_callback(_taking.discard)
            _taking.add(task)

    async def _fail(self) -> None:
        """Say that it went wrong, or close in the middle of what was said already."""
        if self.has_begun:
            self._front.behind.flush()
            self._front.transport.close()
            return
        await self.send({"type": "http.response.start", "status": 500, "headers": FAILED_HEADERS})
        await self.send({"type": "http.response.body", "body": FAILED, "more_body": False})


class Behind(Passing):
    """What the other server takes for the client's connection. The head of an answer waits here
    for what follows, as long as the event loop does not come around."""

    def __init__(self, inner: asyncio.Transport, front: Front) -> None:
        super().__init__(inner)
        self._front = front
        self._loop = asyncio.get_running_loop()
        self.is_head_next = False
        """What is written next is the head of an answer."""
        self._head: Bytes = b""

    def is_closing(self) -> bool:
        return self._front.is_over or self._inner.is_closing()

    def close(self) -> None:
        self._front.close()

    def write(self, data: Bytes) -> None:
        if self._front.is_over or not data:
            return
        if self.is_head_next:
            self.is_head_next, self._head = False, data
            self._loop.call_soon(self.flush)
        elif self._head:
            head, self._head = self._head, b""
            if len(data) > LONG:
                self._inner.writelines((head, data))
            else:
                self._inner.write(b"".join((head, data)))
        else:
            self._inner.write(data)

    def flush(self) -> None:
        """Let a head go ahead of a body that is late."""
        head, self._head = self._head, b""
        if head and not self._inner.is_closing():
            self._inner.write(head)

    def pause_reading(self) -> None:
        if not self._front.is_over:
            self._inner.pause_reading()


def _simplify(scope: Message) -> None:
    """Give an absolute target the path that it is for."""
    scope["raw_path"] = path_of(scope["raw_path"])
    scope["path"] = "/" + cast(str, scope["path"]).partition("://")[2].partition("/")[2]


_taking: set[asyncio.Task[None]] = set()
"""Those at work, which nobody waits for."""


async def _take_all(receive: Receive, within: float) -> None:
    """Somebody else who listens may get the message that ends this; then time does."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                continue
