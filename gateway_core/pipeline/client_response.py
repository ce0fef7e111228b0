"""The client's side of one inference request, as plain ASGI.

Notices when the client goes away, opens a stream early when a vendor is slow
and keeps a quiet one alive. No Starlette request or response stands on this
path.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..contracts.asgi import (
    HasPushed,
    Header,
    OnDisconnect,
    Push,
    Receive,
    Reply,
    Scope,
    Send,
)
from ..contracts.wire import KeepAlive
from ..identity.cross_origin import SHARED_FIELDS
from ..upstream.body_buffer import LARGE, keep_room
from .silence import LOOKS, SilenceWatch

WATCH_AFTER = 0.25
"""Seconds until a waiting request begins to look whether its client is still there."""
EARLY_AFTER = 2.0
"""Seconds until a stream opens without the vendor."""
LINGER = 5.0
"""Seconds in which what a refused client still sends is read and dropped."""
SLICE = 64 * 1024
"""A longer piece is sent in parts, so that a slow client's share of memory stays small."""

# Answers may hold a client's own text: no browser is to take one for a page (WHATWG Fetch,
# section 3.6), and no cache is to keep one (RFC 9111, section 5.2.2.5).
_NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
_NO_STORE: Header = (b"cache-control", b"no-store")
_WHOLE = (_NO_STORE, _NOSNIFF)
_WHOLE_SHARED = (*_WHOLE, *SHARED_FIELDS)
_LASTING, _LASTING_SHARED = (
    "".join(f"{n.decode()}: {v.decode()}\r\n" for n, v in fields)
    for fields in (_WHOLE, _WHOLE_SHARED)
)
_STREAMING: tuple[Header, ...] = (
    (b"cache-control", b"no-cache, no-store, no-transform"),
    # nginx collects a proxied answer unless this header says otherwise.
    (b"x-accel-buffering", b"no"),
    _NOSNIFF,
)
_STREAMING_SHARED = (*_STREAMING, *SHARED_FIELDS)


def whole_headers(
    headers: Sequence[Header], body: bytes, request_id: bytes, is_shared: bool = False
) -> tuple[Header, ...]:
    """The headers of a whole answer, of which ``headers`` are its own; with ``is_shared`` pages of
    every origin may read it."""
    length = (b"content-length", b"%d" % len(body))
    lasting = _WHOLE_SHARED if is_shared else _WHOLE
    return (*headers, length, (b"x-request-id", request_id), *lasting)


def whole_lines(body: bytes, request_id: str, is_shared: bool = False) -> bytes:
    """What ``whole_headers`` adds, as HTTP/1.1 writes it."""
    lasting = _LASTING_SHARED if is_shared else _LASTING
    return f"content-length: {len(body)}\r\nx-request-id: {request_id}\r\n{lasting}".encode()


def stream_headers(
    headers: Sequence[Header], request_id: bytes, is_shared: bool = False
) -> tuple[Header, ...]:
    """The headers of a stream, of which ``headers`` are its own."""
    lasting = _STREAMING_SHARED if is_shared else _STREAMING
    return (*headers, (b"x-request-id", request_id), *lasting)


class ClientGone(Exception):
    """The client has closed its connection."""


def headers_of(scope: Scope) -> dict[str, str]:
    """Request headers, names in lower case; of a repeated one the last."""
    # Latin-1 maps every byte, so no header makes this fail: RFC 9110, section 5.5.
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def drained(receive: Receive) -> None:
    """Read what a client still sends, within the time to linger.

    Closing with unread bytes resets the connection, and the client may lose the answer: RFC 9112,
    section 9.6.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while (await receive()).get("more_body"):
                pass


class ClientResponse:
    """Writes the answer. Every method that sends raises ClientGone once the client has left."""

    # What most requests leave as it is stands here, so that nothing is done for it.
    opened = False
    """True once the head of the answer is out."""
    sent = 0
    """Bytes of the body given to the client."""
    unread = False
    """More of the request may be to come."""
    gone = False
    is_shared = False
    """Pages of every origin may read the answer."""
    tap: Callable[[bytes], None] | None = None
    """Is shown every piece of the body."""
    early_headers: tuple[Header, ...] = ()
    _silence: SilenceWatch | None = None
    _watch: asyncio.TimerHandle | None = None
    _watcher: asyncio.Task[None] | None = None
    _beating: asyncio.Task[None] | None = None
    _beat = 0.0
    _frame = b""
    _throughout = False
    _is_writing = False
    """A piece is being sent, maybe in parts, between which nothing else may go."""
    _seen = 0
    """Bytes sent by the last look for a silence."""

    def __init__(
        self,
        receive: Receive,
        send: Send,
        request_id: str,
        push: Push | None = None,
        has_pushed: HasPushed | None = None,
        reply: Reply | None = None,
        leaving: OnDisconnect | None = None,
    ) -> None:
        self._receive, self._send, self._push, self._reply = receive, send, push, reply
        self._has_pushed = has_pushed
        self._leaving = leaving
        self.request_id = request_id.encode()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task(self._loop)

    def watch(self) -> None:
        """From now on notice when the client leaves: the request's task is cancelled then.

        Our own server says so; with another one a task waits for it, once that is worth it.
        """
        # ASGI tells of a disconnect only to whoever receives, so without the extension a task does.
        if self._leaving is None:
            self._watch = self._loop.call_later(WATCH_AFTER, self._start_watching)
        else:
            self._leaving(self._leave)

    def open_early(
        self, keep_alive: KeepAlive, every: float, media_type: str, *, is_late: bool = False
    ) -> None:
        """Open the stream by itself if nothing has been sent in two seconds; at once when it is
        late already, and then a stream that is open gets its first frame at once too."""
        self._frame, self._beat = keep_alive.frame, every
        self._throughout = keep_alive.throughout
        self.early_headers = ((b"content-type", media_type.encode()),)
        if is_late:
            self._send_keep_alive()
        elif not self.opened:
            self._watch_silence(EARLY_AFTER)
        elif self._throughout and every > 0:
            self._watch_silence(every)

    @property
    def is_early(self) -> bool:
        """The head is out, or about to leave, without the headers of an answer."""
        return self.opened or self._beating is not None

    async def answer(self, status: int, body: bytes, headers: tuple[Header, ...]) -> None:
        """A whole answer."""
        if self._silence is not None or self._beating is not None:
            await self.settle()
        whole = whole_headers(headers, body, self.request_id, self.is_shared)
        if self._reply is not None and self._reply(status, whole, body):
            self.opened = True
            self._count(body)
        else:
            await self._open(status, whole)
            await self._body(body, more=False)

    async def begin(self, headers: tuple[Header, ...], first: bytes) -> None:
        """The head of a stream, unless it is out already, and its first bytes."""
        await self.settle(keep_beating=self._throughout)
        if not self.opened:
            await self._open(200, stream_headers(headers, self.request_id, self.is_shared))
        await self.write(first)

    async def write(self, piece: bytes) -> None:
        """More of a stream."""
        if self.gone:
            raise ClientGone
        if self._beating is not None:
            await asyncio.wait((self._beating,))
        if len(piece) >= LARGE:
            keep_room()  # The allocator keeps this block for the next long body.
        self._is_writing = True
        for begin in range(0, len(piece), SLICE):
            await self._body(piece[begin : begin + SLICE], more=True)
        self._is_writing = False

    def quick(self) -> Push | None:
        """What sends more of a stream at once, if that can be; false when it is to be written.

        It is the server's own where nobody wants to know what is sent.
        """
        is_timed = self._has_pushed is None and self._beat > 0
        is_counted = self._push is not None and (is_timed or self.tap is not None)
        return self._pushed if is_counted else self._push

    def _pushed(self, piece: bytes) -> bool:
        if self._push is None or not self._push(piece):
            return False
        self._count(piece)
        return True

    async def end(self, last: bytes = b"") -> None:
        """The last of a stream."""
        await self.settle()
        if len(last) > SLICE:
            await self.write(last)
            last = b""
        await self._body(last, more=False)

    async def settle(self, *, keep_beating: bool = False) -> None:
        """Stop opening early; stop the keep-alives too, unless they go on for the whole stream."""
        if self._beating is not None:
            # A frame that is being sent is sent to its end.
            await asyncio.wait((self._beating,))
        if self._silence is not None and keep_beating and self._beat > 0:
            self._silence.longest = self._beat
        elif self._silence is not None:
            self._silence.stop()
            self._silence = None

    def release(self) -> bool:
        """Leave nothing behind, if that needs no waiting; false when ``close`` is to be called."""
        self._task = None  # It may have more to do, which is not for this client alone.
        if self._watch is not None:
            self._watch.cancel()
        return self._watcher is None and self._silence is None and self._beating is None

    async def close(self) -> None:
        """Leave nothing behind: no timer, no task."""
        await self.settle()
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait((self._watcher,))

    async def _open(self, status: int, headers: Sequence[Header]) -> None:
        self.opened = True
        # A list, because the middleware of a program around us may add to it.
        fields = list(headers)
        try:
            await self._send({"type": "http.response.start", "status": status, "headers": fields})
        except OSError:  # As for a body.
            self.gone = True
            raise ClientGone from None

    async def _body(self, piece: bytes, *, more: bool) -> None:
        if not piece and more:
            return
        self._count(piece)
        try:
            if self.unread and not more and self._leaving is None:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
                await drained(self._receive)
                piece = b""
            await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        except OSError:  # ASGI 2.4: a server raises it for a client that has disconnected.
            self.gone = True
            raise ClientGone from None

    def _count(self, piece: bytes) -> None:
        self.sent += len(piece)
        if self.tap is not None:
            self.tap(piece)

    def _start_watching(self) -> None:
        self._watcher = self._loop.create_task(self._watch_client())

    async def _watch_client(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            continue
        self._leave()

    def _leave(self) -> None:
        """The client has left before the end: nothing more is to be done for it."""
        self.gone = True
        if self._task is not None:
            self._task.cancel()

    # Silence.

    def _watch_silence(self, longest: float) -> None:
        step = self._beat / LOOKS or EARLY_AFTER
        self._silence = SilenceWatch(self._has_sent, self._send_keep_alive, longest, step)

    def _has_sent(self) -> bool:
        """Whether anything went out since this was last asked."""
        seen, self._seen = self._seen, self.sent
        has_pushed = self._has_pushed is not None and self._has_pushed()
        return has_pushed or self._seen != seen

    def _send_keep_alive(self) -> None:
        self._silence = None
        self._beating = self._loop.create_task(self._keep_alive())

    async def _keep_alive(self) -> None:
        """The head if it is not out yet, then a frame; then the next silence is waited for."""
        try:
            if not self.opened:
                headers = stream_headers(self.early_headers, self.request_id, self.is_shared)
                await self._open(200, headers)
            if not self._is_writing:  # Otherwise the client is slow, and something is on its way.
                await self._body(self._frame, more=True)
            if self._beat > 0:
                self._watch_silence(self._beat)
        except ClientGone:
            return
        finally:
            self._beating = None
