"""One WebSocket, as the application sees it, over whatever connection carries its bytes.

```text
CONNECTING ──accept──▶ OPEN ──close──▶ CLOSING ──client's close, or time──▶ CLOSED
     │ refused           │ client's close, bad frames, silence                ▲
     ▼                   └────────────────────────────────────────────────────┘
   CLOSED
```

Messages that the application has not received wait, and above a few of them the client is not
read. The beginning of the next message counts as well, until the application waits for it. Pings
are answered meanwhile, as far as the client takes the answers.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Protocol

from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from gateway_core import ON_STOP, ServerLimits

from ..connections import MIN_BODY_PROGRESS, App, Message
from ..http1.flow_control import HIGH_WATER
from ..http1.response_head import FAILED, FAILED_HEADERS, Header
from .handshake import Handshake
from .messages import ABNORMAL, GOING_AWAY, INTERNAL, Closing, MessageReader

log = logging.getLogger(__name__)

MAX_WAITING = 16
"""Messages that wait for the application."""
MAX_UNANSWERED = 2
"""Pings that a client may leave unanswered."""
FORBIDDEN = 403
TOO_SLOW = 1008


class State(Enum):
    CONNECTING, REFUSING, OPEN, CLOSING, CLOSED = auto(), auto(), auto(), auto(), auto()


class Link(Protocol):
    """What a socket uses of its connection."""

    @property
    def is_writable(self) -> bool:
        """Whether the client takes what is written."""
        ...

    def start(self, status: int, headers: Sequence[Header]) -> None:
        """Send the head of the response: that of a socket, or of a refusal."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes behind the head."""
        ...

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def end(self) -> None:
        """Nothing more is written: close, once everything has left."""
        ...

    def abort(self) -> None: ...


class SocketSession:
    """What the application receives from and sends to."""

    def __init__(
        self, scope: Message, handshake: Handshake, link: Link, limits: ServerLimits, now: float
    ) -> None:
        self.scope, self.handshake, self.link, self._limits = scope, handshake, link, limits
        self.state = State.CONNECTING
        self.success = 101 if handshake.key is not None else 200
        """The status of an accepted handshake."""
        self._reader = MessageReader(limits.message)
        self._waiting: deque[Message] = deque(({"type": "websocket.connect"},))
        self._arrived = asyncio.Event()
        self._arrived.set()
        self._disconnected: Message | None = None
        """What the application receives once everything before it was received."""
        self._on_stop: Callable[[], None] | None = None
        self._is_stopping = False
        self.mark = now
        """When the client last made progress with a message, or when closing began."""
        self._recent = 0
        """Bytes since then."""
        self._pinged, self._unanswered = now, 0
        """When the last ping was sent, and how many were not answered."""
        self._waiting_size = 0
        """Characters and bytes of what waits."""
        self._is_awaited = False
        """The application has received everything, and waits for the next message."""

    async def run(self, app: App) -> None:
        """Run the application, and close in its place if it fails."""
        self.scope[ON_STOP] = self.on_stop
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            self._fail(GOING_AWAY)  # Only a stop cancels it.
        except BaseException:
            log.exception("a socket failed")
            self._fail(INTERNAL)
        else:
            self._fail(INTERNAL)
        finally:
            self._on_stop = None
            self.scope.pop(ON_STOP, None)

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Have the application close the socket when a stop is requested, or was."""
        if self._is_stopping:
            callback()
        else:
            self._on_stop = callback

    # Called by the connection.

    def feed(self, data: bytes) -> None:
        """Bytes that the client has sent."""
        self._recent += len(data)
        if self._recent >= MIN_BODY_PROGRESS:
            self._recent, self.mark = 0, self._now()
        self._unanswered = 0
        if self.state is State.CONNECTING:
            # A client must wait for our response: RFC 6455, section 4.1. It waits now.
            self._reader.feed(data)
            self.link.pause_reading()
        elif self.state in (State.OPEN, State.CLOSING):
            self._reader.feed(data)
            self.read()

    def read(self) -> None:
        """Read on, as far as there is room for messages and the client takes answers."""
        try:
            self._read()
        except Closing as closing:
            self._disconnect(closing.code, closing.reason)
            if self.state is State.OPEN:
                self._send(CloseConnection(code=closing.code, reason=closing.reason))
            self._end()

    def _read(self) -> None:
        """Raises Closing."""
        if self._is_full:
            self.link.pause_reading()
            return
        for each in self._reader.messages():
            if isinstance(each, Ping):
                if self.state is State.OPEN:
                    self._send(each.response())
            elif isinstance(each, CloseConnection):
                self._on_close(each)
                return
            elif not isinstance(each, Pong) and self.state is State.OPEN:
                self._waiting.append(each)
                self._waiting_size += size_of(each)
                self._arrived.set()
            if self._is_full:
                break
        if self._is_full:
            self.link.pause_reading()

    @property
    def _is_full(self) -> bool:
        size = self._waiting_size + self._reader.size
        is_needed = self._is_awaited and not self._waiting
        has_enough = size >= HIGH_WATER and not is_needed
        return has_enough or len(self._waiting) >= MAX_WAITING or not self.link.is_writable

    def _on_close(self, event: CloseConnection) -> None:
        """The client has closed: first, or in answer to us."""
        self._disconnect(int(event.code), event.reason or "")
        if self._reader.connection.state is ConnectionState.REMOTE_CLOSING:
            self._send(event.response())
        self._end()

    def on_client_gone(self) -> None:
        """The connection is lost."""
        self.state = State.CLOSED
        self._disconnect(ABNORMAL, "")

    def on_writable(self) -> None:
        """The client takes what is written again."""
        if self.state in (State.OPEN, State.CLOSING):
            self._resume()

    def on_tick(self, now: float) -> None:
        """Close what takes too long: a message, an answer to a close, or to pings."""
        limits = self._limits
        if self.state is State.CLOSING:
            if now - self.mark > limits.linger:
                self._end()
        elif self.state is State.OPEN:
            # While it is not read, a client cannot be late.
            if self._is_full or not self._reader.is_amid_message:
                self.mark = now
            if self._is_full:
                self._pinged, self._unanswered = now, 0
            elif now - self.mark > limits.body_silence:
                self._close(TOO_SLOW, "The message did not come in time")
            elif now - self._pinged > limits.ping:
                self._ping(now)

    def start_drain(self) -> None:
        """A stop is requested: the application closes the socket, or we do."""
        self._is_stopping = True
        if self._on_stop is not None:
            callback, self._on_stop = self._on_stop, None
            callback()
        elif self.state is State.OPEN:
            self._close(GOING_AWAY, "The server is stopping")

    # Called by the application.

    async def receive(self) -> Message:
        if not self._waiting and self._disconnected is None:
            await self._wait()
        if not self._waiting:
            assert self._disconnected is not None
            return self._disconnected
        was_full, message = self._is_full, self._waiting.popleft()
        self._waiting_size -= size_of(message)
        if was_full and self.state in (State.OPEN, State.CLOSING):
            self._resume()
        return message

    async def _wait(self) -> None:
        """Wait for a message, or for the end."""
        was_full, self._is_awaited = self._is_full, True
        try:
            if was_full and self.state in (State.OPEN, State.CLOSING):
                self._resume()
            while not self._waiting and self._disconnected is None:
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            self._is_awaited = False

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if self.state is State.CONNECTING and kind == "websocket.accept":
            self.link.start(self.success, self.handshake.accept_headers(message))
            self.state, self._pinged, self.mark = State.OPEN, self._now(), self._now()
            self._resume()
        elif self.state is State.CONNECTING and kind == "websocket.close":
            self._refuse(FORBIDDEN, ((b"content-length", b"0"),), b"")
        elif self.state is State.CONNECTING and kind == "websocket.http.response.start":
            self.link.start(message["status"], _closing(message.get("headers") or ()))
            self.state = State.REFUSING
        elif self.state is State.REFUSING and kind == "websocket.http.response.body":
            self.link.write(message.get("body", b""))
            if not message.get("more_body"):
                self._end()
        elif kind == "websocket.send" and self.state is not State.CONNECTING:
            await self._send_message(message)
        elif kind == "websocket.close" and self.state is not State.CONNECTING:
            if self.state is State.OPEN:
                self._close(message.get("code") or 1000, message.get("reason") or "")
        else:
            raise RuntimeError(f"{kind} is out of order")

    async def _send_message(self, message: Message) -> None:
        if not self.link.is_writable:
            await self.link.drain()
        if self.state is State.OPEN:
            text = message.get("text")
            if text is None:
                self._send(BytesMessage(data=message["bytes"]))
            else:
                self._send(TextMessage(data=text))
            # Two messages of a sender that goes on at once would be held for a slow client.
            if not self.link.is_writable:
                await self.link.drain()

    # The end.

    def _refuse(self, status: int, headers: Sequence[Header], body: bytes) -> None:
        self.link.start(status, _closing(headers))
        self.link.write(body)
        self._end()

    def _fail(self, code: int) -> None:
        """The application is over: close what it has left open."""
        if self.state is State.CONNECTING:
            self._refuse(500, FAILED_HEADERS, FAILED)
        elif self.state is State.REFUSING:
            self.link.abort()
        elif self.state is State.OPEN:
            self._close(code, "")

    def _close(self, code: int, reason: str) -> None:
        """Send a close frame, and wait for the client's: RFC 6455, section 7.1.1."""
        self._send(CloseConnection(code=code, reason=reason))
        self.state, self.mark = State.CLOSING, self._now()
        self._disconnect(code, reason)
        self._waiting.clear()
        self._waiting_size = 0
        self._resume()

    def _disconnect(self, code: int, reason: str) -> None:
        if self._disconnected is None:
            self._disconnected = {"type": "websocket.disconnect", "code": code, "reason": reason}
            self._arrived.set()

    def _end(self) -> None:
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self.link.end()

    def _resume(self) -> None:
        """Read what has come already, and then further."""
        self.read()
        if not self._is_full and self.state is not State.CLOSED:
            self.link.resume_reading()

    def _ping(self, now: float) -> None:
        if self._unanswered > MAX_UNANSWERED:
            self._disconnect(ABNORMAL, "")
            self.state = State.CLOSED
            self.link.abort()
            return
        self._pinged, self._unanswered = now, self._unanswered + 1
        self._send(Ping(payload=b""))

    def _send(self, event: Any) -> None:
        self.link.write(bytes(self._reader.connection.send(event)))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def size_of(message: Message) -> int:
    """About how much memory a message takes."""
    return len(message.get("text") or message.get("bytes") or b"")


def _closing(headers: Sequence[Header]) -> list[Header]:
    """The headers of a refusal, after which nothing is read."""
    return [*((bytes(n), bytes(v)) for n, v in headers), (b"connection", b"close")]
