"""A WebSocket on a stream of HTTP/2: RFC 8441. Its bytes are the bodies of both messages."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ..connections import App, Message
from ..http1.flow_control import HIGH_WATER
from ..http1.response_head import Header
from ..multiplexed.interfaces import ResetReason
from ..multiplexed.stream import Stream
from .handshake import Handshake, socket_scope
from .session import SocketSession

Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_CONNECTION = b"connection"


def tunnel(app: App, handshake: Handshake, stream: Stream) -> App:
    """The application of a stream, which runs ``app`` with a socket."""

    async def run(scope: Message, receive: Receive, send: Send) -> None:
        link = StreamLink(stream, receive, send)
        limits = stream.connection.limits
        now = asyncio.get_running_loop().time()
        session = SocketSession(socket_scope(scope, handshake), handshake, link, limits, now)
        stream.socket = link.session = session
        pumps = [asyncio.create_task(link.pump_in()), asyncio.create_task(link.pump_out())]
        try:
            await session.run(app)
            await link.ended.wait()
            await asyncio.wait(pumps[1:])
        finally:
            stream.socket = None
            for task in pumps:
                task.cancel()
            await asyncio.wait(pumps)

    return run


class StreamLink:
    """What a socket uses of its stream."""

    session: SocketSession

    def __init__(self, stream: Stream, receive: Receive, send: Send) -> None:
        self._stream, self._receive, self._send = stream, receive, send
        self._head: Message | None = None
        self._out = bytearray()
        self._leaving = 0
        """Bytes that wait for the client's window."""
        self._has_ended = False
        """Nothing more is written."""
        self.ended = asyncio.Event()
        self._has_output, self._has_room, self._may_read = (asyncio.Event() for _ in range(3))
        self._may_read.set()

    async def pump_in(self) -> None:
        """Pass on what the client sends, as far as the socket wants to read."""
        while True:
            await self._may_read.wait()
            message = await self._receive()
            if message["type"] == "http.request" and message["body"]:
                self.session.feed(message["body"])
            if not message.get("more_body"):  # The end of a stream is that of a connection.
                self.session.on_client_gone()
                self.end()
                return

    async def pump_out(self) -> None:
        """Send what is written, as fast as the client's window allows."""
        while not (self._has_ended and not self._out and self._head is None):
            await self._has_output.wait()
            self._has_output.clear()
            if self._head is not None:
                head, self._head = self._head, None
                await self._send(head)
            piece, self._out = bytes(self._out), bytearray()
            self._leaving = len(piece)
            if piece:
                await self._send(_body(piece, more=True))
            was_full, self._leaving = not self.is_writable, 0
            self._has_room.set()
            if was_full:
                self.session.on_writable()
        await self._send(_body(b"", more=False))

    # Called by the socket.

    @property
    def is_writable(self) -> bool:
        return len(self._out) + self._leaving < HIGH_WATER

    def start(self, status: int, headers: Sequence[Header]) -> None:
        # RFC 9113, section 8.2.2: there are no headers about the connection.
        fields = [(name, value) for name, value in headers if name != _CONNECTION]
        self._head = {"type": "http.response.start", "status": status, "headers": fields}
        self._has_output.set()

    def write(self, data: bytes) -> None:
        if not self._has_ended:
            self._out += data
            self._has_room.clear()
            self._has_output.set()

    async def drain(self) -> None:
        while not (self.is_writable or self._has_ended):
            await self._has_room.wait()
            self._has_room.clear()

    def pause_reading(self) -> None:
        self._may_read.clear()

    def resume_reading(self) -> None:
        self._may_read.set()

    def end(self) -> None:
        self._has_ended = True
        self.ended.set()
        self._has_output.set()
        self._has_room.set()

    def abort(self) -> None:
        self._out.clear()
        self._stream.reset(ResetReason.GIVEN_UP)
        self.end()


def _body(piece: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": piece, "more_body": more}
