"""A WebSocket on a connection of HTTP/1.1, which is its own from the handshake on."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..connections import Message
from ..http1.response_head import Header, format_headers, format_status
from .handshake import read_upgrade, socket_scope
from .session import SocketSession

if TYPE_CHECKING:
    from ..http1.protocol import Http1Protocol


class SocketConnection(asyncio.Protocol):
    """One connection, in the place of the protocol that has read the handshake."""

    def __init__(self, before: "Http1Protocol", scope: Message) -> None:
        """Raises RefusedRequest."""
        self.transport, self.flow, self.manager = before.transport, before.flow, before.manager
        self._app, self._common_headers = before.app, before.common_headers
        self._start_task = before.start
        method = scope["method"].encode()
        handshake = read_upgrade(method, scope["http_version"], before.headers)
        now = asyncio.get_running_loop().time()
        self.session = SocketSession(
            socket_scope(scope, handshake), handshake, self, self.manager.limits, now
        )
        self._has_ended = False
        """Our side is closed; the client may still send."""
        self._ended = 0.0
        """When that was."""

    def take_over(self, rest: bytes) -> None:
        """Begin, with what came behind the handshake."""
        self.transport.set_protocol(self)
        self.manager.connections.add(self)
        self._start_task(self.session.run(self._app))
        if rest:
            self.session.feed(rest)

    def data_received(self, data: bytes) -> None:
        self.session.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.manager.connections.discard(self)
        self.session.on_client_gone()
        self.flow.resume_writing()

    def pause_writing(self) -> None:
        self.flow.pause_writing()

    def resume_writing(self) -> None:
        self.flow.resume_writing()
        self.session.on_writable()

    # Called by the socket.

    @property
    def is_writable(self) -> bool:
        return not self.flow.write_paused

    def start(self, status: int, headers: Sequence[Header]) -> None:
        lines = (format_status(status), self._common_headers.lines, format_headers(headers))
        self.write(b"".join((*lines, b"\r\n")))

    def write(self, data: bytes) -> None:
        if data and not (self._has_ended or self.transport.is_closing()):
            self.transport.write(data)

    async def drain(self) -> None:
        await self.flow.drain()

    def pause_reading(self) -> None:
        if not self.transport.is_closing():
            self.flow.pause_reading()

    def resume_reading(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def end(self) -> None:
        # A client that is still sending would be reset by a full close, and lose the close frame
        # before it is read: RFC 6455, section 7.1.1, and RFC 9112, section 9.6.
        self._has_ended, self._ended = True, asyncio.get_running_loop().time()
        if not self.transport.is_closing():
            self.flow.resume_reading()
            try:
                self.transport.write_eof()
            except OSError:  # The client is gone, and the loop has not reported it yet.
                self.transport.abort()

    def abort(self) -> None:
        self.transport.abort()

    # Called by the manager.

    def on_tick(self, now: float) -> None:
        limits = self.manager.limits
        if self.flow.stalled_for(now) > limits.body_silence:
            self.transport.abort()
        elif not self._has_ended:
            self.session.on_tick(now)
        elif now - self._ended > limits.linger:
            self.transport.abort()

    def close_idle(self) -> None:
        """A socket is no idle connection."""

    def start_drain(self) -> None:
        self.session.start_drain()
