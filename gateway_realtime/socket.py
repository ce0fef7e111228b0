"""A client's WebSocket, over any ASGI server.

https://asgi.readthedocs.io/en/latest/specs/www.html#websocket says what the server sends and
takes. Frames, pings and the closing handshake are the server's.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl

from msgspec import Struct

from gateway_core.contracts.asgi import ON_STOP, Message, OnStop, Receive, Scope, Send
from gateway_core.contracts.errors import GatewayError
from gateway_core.http.responses import deny_socket
from gateway_core.pipeline.client_response import headers_of

TOO_BIG = 1009
GOING_AWAY = 1001
ABNORMAL = 1006
"""Codes of RFC 6455, section 7.4.1."""


class Closed(Struct, frozen=True):
    """The socket is closed, by either side."""

    code: int
    reason: str = ""


class ClientSocket:
    """One socket. Messages that come before they are received wait in the server, which stops
    reading when there are too many."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, limit: int) -> None:
        """``limit`` is the length of the longest message, in bytes."""
        self.scope = scope
        self.headers: Mapping[str, str] = headers_of(scope)
        """Names in lower case."""
        self.subprotocols: tuple[str, ...] = tuple(scope.get("subprotocols") or ())
        """What the client offers."""
        self.closed: Closed | None = None
        self._receive, self._send, self._limit = receive, send, limit

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the address; of a repeated one the last."""
        text = (self.scope.get("query_string") or b"").decode("latin-1")
        return dict(parse_qsl(text, keep_blank_values=True))

    async def deny(self, error: GatewayError) -> None:
        """Refuse the handshake, instead of ``accept``."""
        self.closed = Closed(ABNORMAL)
        await deny_socket(self.scope, self._receive, self._send, error)

    async def accept(self, subprotocol: str | None = None) -> None:
        """Finish the handshake."""
        message = await self._receive()
        if message["type"] == "websocket.connect":
            await self._try({"type": "websocket.accept", "subprotocol": subprotocol})
        else:
            self._on_disconnect(message)

    async def receive(self) -> str | bytes | Closed:
        """The next message, or how the socket was closed. A message that is too long closes it."""
        if self.closed is not None:
            return self.closed
        message = await self._receive()
        if message["type"] != "websocket.receive":
            return self._on_disconnect(message)
        content: str | bytes | None = message.get("text")
        if content is None:
            content = message.get("bytes") or b""
        if is_longer(content, self._limit):
            await self.close(TOO_BIG, "The message is too long")
            return Closed(TOO_BIG)
        return content

    async def send(self, content: str | bytes) -> None:
        """Send a message, as soon as the client takes it; nothing once the socket is closed."""
        if self.closed is None:
            name = "text" if isinstance(content, str) else "bytes"
            await self._try({"type": "websocket.send", name: content})

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close it, unless it is closed."""
        if self.closed is None:
            self.closed = Closed(code, reason)
            await self._try({"type": "websocket.close", "code": code, "reason": reason})

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Call it once when the gateway begins to stop, on a server that says so. The socket is to
        be closed within the time to drain."""
        register: OnStop | None = self.scope.get(ON_STOP)
        if register is not None:
            register(callback)

    async def _try(self, message: Message) -> None:
        # ASGI 2.4: a server may raise OSError for a client that has disconnected.
        with suppress(OSError):
            await self._send(message)

    def _on_disconnect(self, message: Message) -> Closed:
        closed = Closed(message.get("code") or ABNORMAL, message.get("reason") or "")
        self.closed = self.closed or closed
        return closed


def is_longer(content: str | bytes, limit: int) -> bool:
    """Whether a message has more bytes, which a text has up to four of for each character."""
    if isinstance(content, bytes) or len(content) > limit or content.isascii():
        return len(content) > limit
    return len(content) * 4 > limit and len(content.encode()) > limit
