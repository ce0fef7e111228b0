"""A WebSocket to a vendor, as its client: RFC 6455.

    Proxied.upgrade ──▶ handshake ──▶ stream ◀──▶ frames (wsproto) ◀──▶ whole messages

Nothing is read ahead of ``receive`` and nothing is queued behind ``send``, so a slow reader at
either end slows the other one down by way of TCP. No extension is offered: what is compressed
could become any size.
"""

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Sequence

import httpcore2
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import (
    BytesMessage,
    CloseConnection,
    Event,
    Message,
    Ping,
    TextMessage,
)
from wsproto.utilities import ProtocolError

from ...contracts.errors import TransportError, UpstreamError
from ...contracts.exchange import SocketClosed, UpstreamRequest
from .fields import Field
from .proxied import Proxied, ProxiedAnswer

HANDSHAKE = 10.0
"""Seconds for the look-up, the connection and the handshake together."""
MESSAGE = 1024 * 1024
"""Longest message of a vendor, bytes; nothing else of it is held."""
PIECE = 64 * 1024
"""Bytes that are read at once."""
QUIET = 20.0
"""Seconds of silence after which the vendor is sent a ping."""
PINGS = 2
"""Pings without a sign of life after which the vendor is gone."""
STALLED = 60.0
"""Seconds in which a vendor must take a message."""
FAREWELL = 2.0
"""Seconds for the vendor's answer to a close frame."""
REFUSAL = 8 * 1024
"""Of the body of a refused handshake, bytes that are read."""
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""RFC 6455, section 1.3."""

NORMAL, ABNORMAL, TOO_BIG, OVERLOADED = 1000, 1006, 1009, 1013
"""Codes of RFC 6455, section 7.4.1, and of the registry that it begins. ``ABNORMAL`` is never sent:
no close frame came."""


class VendorSocket:
    """An open socket. One task may receive while another one sends."""

    def __init__(self, answer: ProxiedAnswer) -> None:
        """``answer`` has upgraded its connection."""
        self.subprotocol = answer.headers.get("sec-websocket-protocol")
        """The one that the vendor has chosen of those offered."""
        self.closed: SocketClosed | None = None
        self._answer, self._stream = answer, answer.stream
        self._frames = Connection(ConnectionType.CLIENT)
        self._writing = asyncio.Lock()
        self._is_cut = False
        """A frame was sent in part: nothing that follows it could be read."""
        self._parts: list[str | bytes] = []
        self._size = 0

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the socket was closed. One that is too long closes it."""
        while self.closed is None:
            for event in self._frames.events():
                message = await self._take(event)
                if message is not None:
                    return message
            if self.closed is None:
                await self._read()
        return self.closed

    async def send(self, content: str | bytes) -> bool:
        """Send a message, as soon as the vendor takes it; false when it takes nothing for too
        long. Does nothing once the socket is closed."""
        message = TextMessage(content) if isinstance(content, str) else BytesMessage(content)
        return await self._write(message)

    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Say goodbye, and close. Does nothing the second time."""
        if self.closed is None:
            self.closed = SocketClosed(code, reason)
            try:
                async with asyncio.timeout(FAREWELL):
                    await self._write(CloseConnection(code=code, reason=reason))
                    # RFC 6455, section 7.1.2: the vendor answers; what else comes is dropped.
                    while self._frames.state is ConnectionState.LOCAL_CLOSING:
                        data = await self._stream.read(PIECE)
                        if not data:
                            break
                        self._frames.receive_data(data)
                        for _ in self._frames.events():
                            pass
            except (TimeoutError, httpcore2.NetworkError):
                pass
        await self._drop()

    async def _take(self, event: Event) -> str | bytes | None:
        """The message that an event completes, if it does."""
        if isinstance(event, Message):
            self._parts.append(event.data)
            self._size += size_of(event.data)
            if self._size > MESSAGE:
                self._parts.clear()
                await self._give_up(TOO_BIG, "The provider's message is too long", OVERLOADED)
                return None
            if not event.message_finished:
                return None
            parts, self._parts, self._size = self._parts, [], 0
            # wsproto gives the parts of one message one type.
            texts = [part for part in parts if isinstance(part, str)]
            return "".join(texts) if texts else b"".join(p for p in parts if not isinstance(p, str))
        if isinstance(event, Ping):
            await self._write(event.response())
        elif isinstance(event, CloseConnection) and self._frames.state is ConnectionState.OPEN:
            # No close frame came: this is what the library makes of frames that cannot be.
            await self._give_up(int(event.code), "The provider broke the protocol")
        elif isinstance(event, CloseConnection):
            # A frame without a code counts as 1005, RFC 6455 section 7.1.5.
            self.closed = SocketClosed(int(event.code), event.reason or "")
            await self._write(event.response())
            await self._drop()
        return None

    async def _give_up(self, code: int, reason: str, seen: int = ABNORMAL) -> None:
        """Close with this code; whoever receives sees the other one."""
        await self.close(code)
        self.closed = SocketClosed(seen, reason)

    async def _read(self) -> None:
        """Read more; a vendor that gives no sign of life is gone."""
        for _ in range(PINGS + 1):
            try:
                data = await self._stream.read(PIECE, QUIET)
            except httpcore2.ReadTimeout:
                await self._write(Ping())
                continue
            except httpcore2.NetworkError:
                data = b""
            if data:
                self._frames.receive_data(data)
                return
            break
        if self.closed is None:
            self.closed = SocketClosed(ABNORMAL, "The provider is gone")
            await self._drop()

    async def _write(self, event: Event) -> bool:
        """Send a frame. The order of calls is the order of frames."""
        async with self._writing:
            is_over = isinstance(event, Message) and self.closed is not None
            if self._is_cut or is_over or self._frames.state is ConnectionState.CLOSED:
                return True
            try:
                data = self._frames.send(event)
            except ProtocolError:  # The vendor has begun to close.
                return True
            self._is_cut = True
            try:
                await self._stream.write(data, STALLED)
            except httpcore2.WriteTimeout:
                return False
            except httpcore2.NetworkError:
                # ``receive`` still gives what the vendor sent before, and then its end.
                return True
            self._is_cut = False
            return True

    async def _drop(self) -> None:
        await self._stream.aclose()
        await self._answer.aclose()


async def open_socket(
    carrier: Proxied, request: UpstreamRequest, subprotocols: Sequence[str] = ()
) -> VendorSocket:
    """Shake hands. Raises TransportError, and UpstreamError where the vendor refuses."""
    key = base64.b64encode(secrets.token_bytes(16))
    fields: list[Field] = [
        (b"connection", b"Upgrade"),
        (b"upgrade", b"websocket"),
        (b"sec-websocket-key", key),
        (b"sec-websocket-version", b"13"),
    ]
    if subprotocols:
        fields.append((b"sec-websocket-protocol", ", ".join(subprotocols).encode("latin-1")))
    try:
        async with asyncio.timeout(HANDSHAKE):
            answer = await carrier.upgrade(request, fields)
            if answer.status != 101:
                raise await refusal(answer)
    except TimeoutError:
        raise TransportError(
            "The provider could not be reached in time.", status=504, sent=False
        ) from None
    if not is_agreed(answer, key, subprotocols):
        await answer.stream.aclose()
        await answer.aclose()
        raise TransportError("The provider's answer is no WebSocket handshake.")
    return VendorSocket(answer)


def is_agreed(answer: ProxiedAnswer, key: bytes, subprotocols: Sequence[str]) -> bool:
    """Whether the handshake is one to this request: RFC 6455, section 4.1."""
    headers = answer.headers
    # The digest proves that the answer is to this request; it protects nothing.
    digest = hashlib.sha1(key + GUID, usedforsecurity=False).digest()
    connection = (word.strip().lower() for word in headers.get("connection", "").split(","))
    return (
        headers.get("upgrade", "").lower() == "websocket"
        and "upgrade" in connection
        and headers.get("sec-websocket-accept", "") == base64.b64encode(digest).decode()
        and "sec-websocket-extensions" not in headers
        and headers.get("sec-websocket-protocol", "") in ("", *subprotocols)
    )


async def refusal(answer: ProxiedAnswer) -> UpstreamError:
    """What a vendor says that opens no socket."""
    body = b""
    try:
        while len(body) < REFUSAL and (piece := await answer.next()):
            body += piece
    except TransportError:
        pass  # What has come says enough.
    await answer.aclose()
    text = body[:REFUSAL].decode(errors="replace").strip()
    return UpstreamError(
        text or f"The provider refused the socket with status {answer.status}.",
        status=answer.status,
        request_id=answer.headers.get("x-request-id"),
    )


def size_of(content: str | bytes) -> int:
    """Bytes on the wire."""
    if isinstance(content, str) and not content.isascii():
        return len(content.encode())
    return len(content)
