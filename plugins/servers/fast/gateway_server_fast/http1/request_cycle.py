"""One request and its response, as the application sees them.

The head of a response waits for the first piece of its body, so that both leave
in one write; where the body's length is not announced it waits no longer than
one iteration of the event loop. Pieces of a request are passed on as they came,
and objects that a request does not need are not created.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import lru_cache

from gateway_core import ON_DISCONNECT, PUSH, PUSHED, REPLY

from ..connections import App, Message
from .extensions import DirectRequest, NoOwner, RequestOwner
from .flow_control import HIGH_WATER, FlowControl
from .response_head import (
    BODILESS,
    FAILED,
    FAILED_HEADERS,
    CommonHeaders,
    Header,
    format_headers,
    format_name,
    format_status,
)

LONG = 64 * 1024
"""A longer piece is not copied behind its head."""
SHORT = 1024
"""The first line of a shorter chunk is formatted beforehand."""
_LENGTH, _CODING, _CONNECTION = b"content-length: ", b"transfer-encoding: ", b"connection: "
_FRAMING = frozenset({_LENGTH, _CODING, _CONNECTION})
_LAST_CHUNK = b"0\r\n\r\n"
_CHUNK_LINES = tuple(b"%x\r\n" % size for size in range(SHORT))
_CHUNKED: Header = (b"transfer-encoding", b"chunked")
_NO_OWNER = NoOwner()

log = logging.getLogger(__name__)


class RequestCycle:
    """What the application receives from and sends to."""

    # Defaults that most requests keep are on the class, so that __init__ need not set them.
    disconnected = response_started = response_complete = False
    more_body = True
    direct: DirectRequest | None = None
    """Serves this request, unless a task does."""
    whole = b""
    """All of its body, until a task serves it."""
    _size = 0
    _has_input = False
    """There is something to receive."""
    _receiving: asyncio.Event | None = None
    """Exists while the application waits for input."""
    _head = b""
    """A head that is not yet written."""
    takes_chunks = True
    """False for HTTP/1.0, where a body without a length ends with the connection: RFC 9112,
    section 6.3."""
    _is_chunked = _is_endless = False
    _left = 0
    """Bytes of the body still to come, where a length was announced."""
    _is_flowing = False
    """The head is written, and pieces of a chunked body may follow."""
    _has_pushed = False
    _on_disconnect: Callable[[], None] | None = None

    def __init__(
        self,
        scope: Callable[[], Message],
        transport: asyncio.Transport,
        flow: FlowControl,
        common_headers: CommonHeaders,
        owner: RequestOwner,
        *,
        expects_continue: bool = False,
        keep_alive: bool = True,
        is_head: bool = False,
    ) -> None:
        """``scope`` builds the ASGI scope, once it is needed."""
        self.scope, self.transport, self.flow = scope, transport, flow
        self.common_headers, self.owner = common_headers, owner
        self.expects_continue = expects_continue
        self.keep_alive = keep_alive
        self.is_head = is_head
        self._pieces: list[bytes] = []

    async def run(self, app: App) -> None:
        """Run the application, and respond in its place if it fails."""
        scope = self.scope()
        scope[PUSH], scope[PUSHED], scope[REPLY] = self.push, self.has_pushed, self.reply
        scope[ON_DISCONNECT] = self.on_disconnect
        try:
            await app(scope, self.receive, self.send)
        except BaseException:
            log.exception("a request failed")
            await self._fail()
        else:
            if not self.response_complete and not self.disconnected:
                log.error("an application returned before its response was complete")
                await self._fail()
        finally:
            self.owner, self._on_disconnect = _NO_OWNER, None
            for key in (PUSH, PUSHED, REPLY, ON_DISCONNECT):
                scope.pop(key, None)  # Each refers to this object, which may refer to the scope.

    # Called by the connection.

    def take(self, piece: bytes) -> None:
        """More of the request's body."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > HIGH_WATER:
            self.flow.pause_reading()
        self.wake()

    def complete(self) -> None:
        """The request is complete."""
        self.more_body = False
        self.wake()

    def on_client_gone(self) -> None:
        """The client has disconnected, or was refused."""
        self.disconnected = not self.response_complete
        if self.direct is not None:
            direct, self.direct = self.direct, None
            direct.on_client_gone()
        self.expects_continue = False  # Our side may be closed already.
        self._is_flowing = False
        self.wake()
        if self._on_disconnect is not None and self.disconnected:
            callback, self._on_disconnect = self._on_disconnect, None
            callback()

    def wake(self) -> None:
        """There is something to receive, or there will be nothing more."""
        self._has_input = True
        if self._receiving is not None:
            self._receiving.set()
            self._receiving = None

    # Called by the application.

    async def receive(self) -> Message:
        if self.expects_continue and not self.transport.is_closing():
            # RFC 9110, section 10.1.1: the client waits with its body for this.
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.expects_continue = False
        if not (self.disconnected or self.response_complete):
            self.flow.resume_reading()
            if not self._has_input:
                if self._receiving is None:
                    self._receiving = asyncio.Event()
                await self._receiving.wait()
            self._has_input = False
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        pieces, self._pieces, self._size = self._pieces, [], 0
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: Message) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if kind == "http.response.body" and self.response_started and not self.response_complete:
            self._write(message.get("body", b""), is_last=not message.get("more_body", False))
        elif kind == "http.response.start" and not self.response_started:
            self._begin(message["status"], message.get("headers", ()))
        else:
            raise RuntimeError(f"{kind} is out of order")

    def push(self, piece: bytes) -> bool:
        """Write more of a body at once; false where ``send`` is needed."""
        size = len(piece)
        if not self._is_flowing or self.flow.write_paused or not 0 < size <= LONG:
            return False
        line = _CHUNK_LINES[size] if size < SHORT else _chunk_line(size)
        self.transport.write(b"".join((line, piece, b"\r\n")))
        self._has_pushed = True
        return True

    def has_pushed(self) -> bool:
        """Whether anything was pushed since this was last asked."""
        pushed, self._has_pushed = self._has_pushed, False
        return pushed

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Call it once, if the client disconnects before the response is complete."""
        if self.disconnected:
            callback()
        else:
            self._on_disconnect = callback

    def reply(
        self, status: int, headers: Sequence[Header], body: bytes, ready: bytes = b""
    ) -> bool:
        """Write a whole response with a length at once; false where ``send`` is needed.

        Raises RuntimeError for a header that cannot be sent.
        """
        if self.response_started or not self._is_direct():
            return False
        lines = (self.common_headers.lines, format_headers(headers), ready)
        head = b"".join((format_status(status), *lines, b"\r\n"))
        self.response_started = True
        if len(body) > LONG:
            self.transport.writelines((head, body))
        else:
            self.transport.write(head + body)
        self._end()
        return True

    def open(self, headers: Sequence[Header], first: bytes, *, is_last: bool) -> bool:
        """Write the head of a stream and its first bytes at once; false where ``send`` is needed.

        Raises RuntimeError for a header that cannot be sent.
        """
        if self.response_started or len(first) > LONG or not self._is_direct():
            return False
        lines = (self.common_headers.lines, format_headers((*headers, _CHUNKED)))
        opening = b"".join((format_status(200), *lines, b"\r\n"))
        self.response_started = self._is_chunked = self._is_flowing = self._has_pushed = True
        self.transport.write(opening + _chunk(first) + (_LAST_CHUNK if is_last else b""))
        if is_last:
            self._end()
        return True

    def end(self, last: bytes) -> bool:
        """Write the end of a stream at once; false where ``send`` is needed."""
        if not self._is_flowing or len(last) > LONG or not self._is_direct():
            return False
        self.transport.write(_chunk(last) + _LAST_CHUNK)
        self._end()
        return True

    def run_in_task(self, app: App) -> None:
        """Serve a complete request in a task."""
        self.direct = None
        self.take(self.whole)
        self.complete()
        self.whole = b""
        self.owner.start(self.run(app))

    def _is_direct(self) -> bool:
        """Whether nothing needs to wait, and the connection stays open."""
        if self.flow.write_paused or self.disconnected or self.more_body:
            return False
        return self.keep_alive and not self.is_head

    def _begin(self, status: int, headers: Sequence[Header]) -> None:
        """Format the head. Raises RuntimeError for a header that cannot be sent."""
        self.expects_continue = False
        self._is_chunked, self._left = False, -1
        says_close = False
        if self.more_body:
            self.keep_alive = False  # The rest of the request is never read.
        parts = [format_status(status), self.common_headers.lines, format_headers(headers)]
        for name, value in headers:
            if (label := format_name(name)) in _FRAMING:
                says_close |= self._apply(label, value)
        if not (self.keep_alive or says_close):
            parts.append(b"connection: close\r\n")
        is_framed = self._is_chunked or self._left >= 0
        if not is_framed and not self.is_head and status not in BODILESS:
            self._is_chunked, self._is_endless = self.takes_chunks, not self.takes_chunks
            parts.append(b"transfer-encoding: chunked\r\n" if self.takes_chunks else b"")
        parts.append(b"\r\n")
        self._head, self.response_started = b"".join(parts), True
        if self._left < 0:
            self._left = 0
            asyncio.get_running_loop().call_soon(self._flush)

    def _apply(self, label: bytes, value: bytes) -> bool:
        """Frame the body as a header says; true for one that closes the connection."""
        if label == _CONNECTION:
            if b"close" not in value.lower():
                return False
            self.keep_alive = False
            return True
        if label == _CODING:
            self._is_chunked, self._left = True, -1
        elif not self._is_chunked:
            self._left = int(value)
        return False

    def _write(self, piece: bytes, *, is_last: bool) -> None:
        head, self._head = self._head, b""
        if self.is_head:
            self._left, piece = 0, b""
        elif self._is_chunked:
            parts = (_chunk_line(len(piece)), piece, b"\r\n") if piece else ()
            piece = b"".join((*parts, _LAST_CHUNK) if is_last else parts)
        elif not self._is_endless:
            self._left -= len(piece)
        if self._left < 0 or (is_last and self._left):
            raise RuntimeError("the body is not as long as announced")
        if len(piece) > LONG and head:
            self.transport.writelines((head, piece))
        elif head or piece:
            self.transport.write(head + piece)
        self._is_flowing = self._is_chunked
        if is_last:
            self._end()

    def _end(self) -> None:
        self.response_complete, self.direct, self._is_flowing = True, None, False
        self.wake()
        if not (self.keep_alive or self.more_body):
            self.transport.close()
        self.owner.on_response_complete()

    def _flush(self) -> None:
        """Write the head before a body that is late."""
        if self._head and not self.disconnected:
            self.transport.write(self._head)
            self._is_flowing = self._is_chunked
        self._head = b""

    async def _fail(self) -> None:
        """Respond with 500, or close in the middle of a response that has begun."""
        if self._head:
            self._head, self.response_started = b"", False
        if self.response_started:
            self.transport.close()
            return
        start = {"type": "http.response.start", "status": 500, "headers": FAILED_HEADERS}
        await self.send(start)
        await self.send({"type": "http.response.body", "body": FAILED, "more_body": False})


@lru_cache(maxsize=1024)
def _chunk_line(length: int) -> bytes:
    return b"%x\r\n" % length


def _chunk(piece: bytes) -> bytes:
    """A chunk; nothing for an empty piece, which would end the body: RFC 9112, section 7.1."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
