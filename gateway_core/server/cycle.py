"""One request and its answer.

The head of an answer waits for the first piece of its body, so that both leave
in one write; where the body's length is not announced it waits no longer than
until the event loop comes around. Pieces of a request are handed on as they
came, and what is not needed for a request is not made.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from http import HTTPStatus

from ..contracts.asgi import ON_DISCONNECT, PUSH, REPLY
from .door import App, Message
from .flow import HIGH_WATER, Flow
from .offers import Asker, Express, Nobody

Header = tuple[bytes, bytes]

LONG = 64 * 1024
"""A piece that is longer than this is not copied behind its head."""
SHORT = 1024
"""Of a chunk that is shorter the first line is made beforehand."""
BODILESS = frozenset({204, 304})
_LENGTH, _CODING, _CONNECTION = b"content-length: ", b"transfer-encoding: ", b"connection: "
_FRAMING = frozenset({_LENGTH, _CODING, _CONNECTION})
_END = b"0\r\n\r\n"
_LINES = tuple(b"%x\r\n" % size for size in range(SHORT))
_CHUNKED: Header = (b"transfer-encoding", b"chunked")
FAILED = b"Internal Server Error"
FAILED_HEADERS = (
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"content-length", str(len(FAILED)).encode()),
    (b"connection", b"close"),
)
_is_name = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
_CONTROLS = bytes(code for code in (*range(32), 127) if code != ord("\t"))
"""What a header may not hold. A line has two of them, at its end."""

_NOBODY = Nobody()

log = logging.getLogger(__name__)


class Usual:
    """The headers that every answer has; none of them is about its body or its connection."""

    __slots__ = ("headers", "lines")

    def __init__(self, *headers: Header) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self.tell(*headers)

    def tell(self, *headers: Header) -> None:
        """Have others from now on. Raises RuntimeError for a header that cannot be sent."""
        self.headers, self.lines = headers, lines(headers)


class Cycle:
    """What the application reads from and writes to."""

    # What most requests leave as it is stands here, so that nothing is done for it.
    disconnected = response_started = response_complete = False
    more_body = True
    express: Express | None = None
    """Who serves this request, while no task does."""
    whole = b""
    """All of its body, until a task does."""
    _size = 0
    _has_news = False
    """There is something to receive."""
    _awaited: asyncio.Event | None = None
    """Set while somebody waits for that."""
    _head = b""
    """A head that is not written yet."""
    takes_chunks = True
    """Whether the client's version of HTTP knows chunks; else a body of no announced length ends
    with the connection."""
    _is_chunked = _is_endless = False
    _left = 0
    """Bytes of the body that are still to come, where their number was announced."""
    _is_flowing = False
    """The head is out, and pieces of a chunked body may follow."""
    _told: Callable[[], None] | None = None
    """Is called if the client leaves."""

    def __init__(
        self,
        scope: Callable[[], Message],
        transport: asyncio.Transport,
        flow: Flow,
        usual: Usual,
        asker: Asker,
        *,
        expects_continue: bool = False,
        keep_alive: bool = True,
        is_head: bool = False,
    ) -> None:
        """``scope`` makes one, once that is needed."""
        self.scope, self.transport, self.flow, self.usual = scope, transport, flow, usual
        self.asker = asker
        self.expects_continue = expects_continue
        self.keep_alive = keep_alive
        self.is_head = is_head
        self._pieces: list[bytes] = []

    async def run(self, app: App) -> None:
        """Have a request answered, whatever happens to the application."""
        scope = self.scope()
        scope[PUSH], scope[REPLY], scope[ON_DISCONNECT] = self.push, self.reply, self.leaving
        try:
            await app(scope, self.receive, self.send)
        except BaseException:
            log.exception("a request failed")
            await self._fail()
        else:
            if not self.response_complete and not self.disconnected:
                log.error("a request was left without an end of its answer")
                await self._fail()
        finally:
            self.asker, self._told = _NOBODY, None
            for key in (PUSH, REPLY, ON_DISCONNECT):
                scope.pop(key, None)  # It holds this object, and may hold the scope in turn.

    # What the connection tells.

    def take(self, piece: bytes) -> None:
        """More of the request's body."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > HIGH_WATER:
            self.flow.pause_reading()
        self.wake()

    def complete(self) -> None:
        """The request has come whole."""
        self.more_body = False
        self.wake()

    def leave(self) -> None:
        """Nobody waits for the rest of the answer."""
        self.disconnected = not self.response_complete
        if self.express is not None:
            express, self.express = self.express, None
            express.leave()
        self.expects_continue = False  # Our side may be closed by now.
        self._is_flowing = False
        self.wake()
        if self._told is not None and self.disconnected:
            told, self._told = self._told, None
            told()

    def wake(self) -> None:
        """Something has come, or nothing will come any more."""
        self._has_news = True
        if self._awaited is not None:
            self._awaited.set()
            self._awaited = None

    # What the application calls.

    async def receive(self) -> Message:
        if self.expects_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.expects_continue = False
        if not (self.disconnected or self.response_complete):
            self.flow.resume_reading()
            if not self._has_news:
                await self._news()
            self._has_news = False
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
            raise RuntimeError(f"{kind} is out of turn")

    def push(self, piece: bytes) -> bool:
        """More of a body whose head is out, at once; false for what needs ``send``."""
        size = len(piece)
        if not self._is_flowing or self.flow.write_paused or not 0 < size <= LONG:
            return False
        line = _LINES[size] if size < SHORT else _size(size)
        self.transport.write(b"".join((line, piece, b"\r\n")))
        return True

    def leaving(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once, if the client leaves before the answer has ended."""
        if self.disconnected:
            told()
        else:
            self._told = told

    def reply(
        self, status: int, headers: Sequence[Header], body: bytes, ready: bytes = b""
    ) -> bool:
        """A whole answer at once, which names its length; false for what needs ``send``.

        Raises RuntimeError for a header that cannot be sent.
        """
        if self.response_started or not self._may_hurry():
            return False
        head = b"".join((_opening(status), self.usual.lines, lines(headers), ready, b"\r\n"))
        self.response_started = True
        if len(body) > LONG:
            self.transport.writelines((head, body))
        else:
            self.transport.write(head + body)
        self._end()
        return True

    def open(self, headers: Sequence[Header], first: bytes, *, is_last: bool) -> bool:
        """The head of a stream and its first bytes at once, and its end if they are all of it;
        false for what needs ``send``. Raises RuntimeError for a header that cannot be sent."""
        if self.response_started or len(first) > LONG or not self._may_hurry():
            return False
        told = lines((*headers, _CHUNKED))
        opening = b"".join((_opening(200), self.usual.lines, told, b"\r\n"))
        self.response_started = self._is_chunked = self._is_flowing = True
        self.transport.write(opening + _chunk(first) + (_END if is_last else b""))
        if is_last:
            self._end()
        return True

    def end(self, last: bytes) -> bool:
        """The last of a stream whose head is out, at once; false for what needs ``send``."""
        if not self._is_flowing or len(last) > LONG or not self._may_hurry():
            return False
        self.transport.write(_chunk(last) + _END)
        self._end()
        return True

    def carry_on(self, app: App) -> None:
        """Have a task answer a request that has come whole."""
        self.express = None
        self.take(self.whole)
        self.complete()
        self.whole = b""
        self.asker.start(self.run(app))

    def _may_hurry(self) -> bool:
        """Whether the client takes what it is sent, and needs nothing out of the ordinary."""
        if self.flow.write_paused or self.disconnected or self.more_body:
            return False
        return self.keep_alive and not self.is_head

    async def _news(self) -> None:
        if self._awaited is None:
            self._awaited = asyncio.Event()
        await self._awaited.wait()

    def _begin(self, status: int, headers: Sequence[Header]) -> None:
        """Put the head into its bytes. Raises RuntimeError for a header that cannot be sent."""
        self.expects_continue = False
        self._is_chunked, self._left = False, -1
        is_said = False
        if self.more_body:
            self.keep_alive = False  # What is still to come of the request is dropped with it.
        parts = [_opening(status), self.usual.lines, lines(headers)]
        for name, value in headers:
            if (label := _label(name)) in _FRAMING:
                is_said |= self._follow(label, value)
        if not (self.keep_alive or is_said):
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

    def _follow(self, label: bytes, value: bytes) -> bool:
        """Do as a header says; true for one that says that the connection closes."""
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
            parts = (_size(len(piece)), piece, b"\r\n") if piece else ()
            piece = b"".join((*parts, _END) if is_last else parts)
        elif not self._is_endless:
            self._left -= len(piece)
        if self._left < 0 or (is_last and self._left):
            raise RuntimeError("the body is not as long as was announced")
        if len(piece) > LONG and head:
            self.transport.writelines((head, piece))
        elif head or piece:
            self.transport.write(head + piece)
        self._is_flowing = self._is_chunked
        if is_last:
            self._end()

    def _end(self) -> None:
        self.response_complete, self.express, self._is_flowing = True, None, False
        self.wake()
        if not (self.keep_alive or self.more_body):
            self.transport.close()
        self.asker.on_response_complete()

    def _flush(self) -> None:
        """Let the head go ahead of a body that is late."""
        if self._head and not self.disconnected:
            self.transport.write(self._head)
            self._is_flowing = self._is_chunked
        self._head = b""

    async def _fail(self) -> None:
        """Say that it went wrong, or close in the middle of what was said already."""
        if self._head:
            self._head, self.response_started = b"", False
        if self.response_started:
            self.transport.close()
            return
        start = {"type": "http.response.start", "status": 500, "headers": FAILED_HEADERS}
        await self.send(start)
        await self.send({"type": "http.response.body", "body": FAILED, "more_body": False})


@lru_cache(maxsize=64)
def _opening(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


def lines(headers: Sequence[Header]) -> bytes:
    """Headers as they are sent. Raises RuntimeError for one that cannot be."""
    each = [_label(name) + value for name, value in headers]
    each.append(b"")
    lines = b"\r\n".join(each)
    if len(lines) - len(lines.translate(None, _CONTROLS)) != 2 * len(headers):
        raise RuntimeError("a header holds control characters")
    return lines


@lru_cache(maxsize=1024)
def _label(name: bytes) -> bytes:
    """A header's name as it begins its line. Raises RuntimeError for what is no name."""
    if _is_name(name) is None:
        raise RuntimeError("the name of a header is malformed")
    return name.lower() + b": "


@lru_cache(maxsize=1024)
def _size(length: int) -> bytes:
    """What stands before a chunk."""
    return b"%x\r\n" % length


def _chunk(piece: bytes) -> bytes:
    """A piece of a chunked body, maybe none."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
