"""One request and its response on an HTTP/2 connection, as the application sees them.

```text
head ──▶ take … complete ──▶ (response complete) ──▶ removed from the connection
            │ reset by the client, silence, the connection's end
            ▼
          leave: the application is notified, and nothing more is sent
```
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from email.utils import formatdate
from functools import lru_cache
from time import time

import msgspec
from h2.exceptions import ProtocolError

from gateway_core import ON_DISCONNECT, PUSH, PUSHED, REPLY, ServerLimits

from ..connections import App, Message
from ..http1.request_cycle import LONG
from ..http1.response_head import BODILESS, FAILED, FAILED_HEADERS, Header, format_headers
from .interfaces import ResetReason, StreamConnection, Tunnelled
from .request_body import RequestBody

log = logging.getLogger(__name__)

MAX_PIECE = 16 * 1024
"""Bytes of a body in one frame: RFC 9113, section 4.2."""


class Stream:
    """What the application receives from and sends to."""

    def __init__(
        self, connection: StreamConnection, number: int, scope: Message, now: float
    ) -> None:
        self.connection, self.number, self.scope = connection, number, scope
        self.expects_continue = any(
            name == b"expect" and value.lower() == b"100-continue"
            for name, value in scope["headers"]
        )
        self.socket: Tunnelled | None = None
        """Keeps the time of both bodies, where they are those of a WebSocket."""
        self.body = RequestBody(connection, number, now)
        self.gone = self.started = self.response_complete = self.is_bodiless = False
        self._ended = 0.0
        """When the response ended."""
        self._stuck: float | None = None
        """Since when the response waits for the client's window."""
        self._stuck_at = 0
        """How much the connection had sent by then."""
        self._left: int | None = None
        """How much of the response's body is still to come, if a length was announced."""
        self._on_disconnect: Callable[[], None] | None = None
        self._has_input = self._has_pushed = False
        # Created when they are waited for, because an event takes 750 bytes.
        self._received: asyncio.Event | None = None
        self._has_room: asyncio.Event | None = None

    async def run(self, app: App) -> None:
        """Run the application, and respond in its place if it fails."""
        scope = self.scope
        scope[PUSH], scope[PUSHED], scope[REPLY] = self.push, self.has_pushed, self.reply
        scope[ON_DISCONNECT] = self.on_disconnect
        try:
            await app(scope, self.receive, self.send)
        except BaseException:
            log.exception("a request failed")
            self._on_disconnect = None  # The client has not disconnected.
            self._fail()
        else:
            self._on_disconnect = None
            if not (self.response_complete or self.gone):
                log.error("an application returned before its response was complete")
                self._fail()
        finally:
            for key in (PUSH, PUSHED, REPLY, ON_DISCONNECT):
                scope.pop(key, None)  # Each refers to this object, which refers to the scope.

    # Called by the connection.

    def take(self, data: bytes, size: int, now: float) -> None:
        """More of the body; ``size`` is what it takes of the client's window."""
        self.body.take(data, size, now)
        if self.response_complete:
            self.body.read()
        else:
            self._wake()

    def complete(self) -> None:
        """The request is complete."""
        self.body.complete()
        self._wake()
        self._settle()

    @property
    def is_short(self) -> bool:
        """Whether the body is not as long as announced: RFC 9113, section 8.1.1."""
        lengths = (int(v) for name, v in self.scope["headers"] if name == b"content-length")
        return next(lengths, self.body.size) != self.body.size

    def drop(self) -> None:
        """The client has reset the stream."""
        self.on_client_gone()
        self.body.restore_window()
        self.connection.forget(self.number)

    def on_client_gone(self) -> None:
        """The client has disconnected, or reset the stream."""
        self.gone = True
        self.body.drop()
        self._wake()
        self.wake_sender()
        callback, self._on_disconnect = self._on_disconnect, None
        if callback is not None and not self.response_complete:
            callback()

    def wake_sender(self) -> None:
        """There may be room to send more."""
        if self._has_room is not None:
            self._has_room.set()

    def on_tick(self, now: float, limits: ServerLimits) -> None:
        """End it if the client takes too long to send its body, or to take the response."""
        since = self._stuck
        if since is not None:
            # What it waits for may still be in the buffers.
            if self.connection.delivered < self._stuck_at:
                self._stuck = since = max(since, self.connection.progressed_at)
            # Other streams make progress, and it waits for its turn.
            if self.connection.is_congested:
                since = max(since, self.connection.sent_at)
            if now - since > limits.body_silence:
                self.reset(ResetReason.GIVEN_UP)
        if self.gone:
            return
        if self.socket is not None:
            self.socket.on_tick(now)
        elif self.body.is_complete:
            return
        elif self.response_complete:
            if now - self._ended > limits.linger:
                self.reset(ResetReason.DONE)
        elif self.body.silent_for(now) > limits.body_silence:
            if self.started:
                self.reset(ResetReason.GIVEN_UP)
            else:
                body = msgspec.json.encode({"error": "The request did not come in time"})
                self._respond(408, refusal_headers(body), body)
                self.reset(ResetReason.DONE)

    # Called by the application.

    async def receive(self) -> Message:
        if self.expects_continue and not self._is_over:
            self.expects_continue = False
            # RFC 9110, section 10.1.1: the client waits with its body for this.
            self.connection.send_head(self.number, [(b":status", b"100")])
            self.connection.flush()
        if self.body.size and not self.body.is_complete:
            self.connection.widen()
        while not (self._has_input or self._is_over):
            received = self._received = self._received or asyncio.Event()
            received.clear()
            await received.wait()
        if self._is_over:
            return {"type": "http.disconnect"}
        self._has_input = False
        is_last = self.body.is_complete
        return {"type": "http.request", "body": self.body.read(), "more_body": not is_last}

    async def send(self, message: Message) -> None:
        if self.gone:
            return
        kind = message["type"]
        if kind == "http.response.body" and self.started and not self.response_complete:
            await self._write(message.get("body", b""), is_last=not message.get("more_body"))
        elif kind == "http.response.start" and not self.started:
            self._begin(message["status"], message.get("headers", ()))
        else:
            raise RuntimeError(f"{kind} is out of order")

    def push(self, piece: bytes) -> bool:
        """Send more of a body at once; false where ``send`` is needed."""
        is_flowing = self.started and not self.is_bodiless and self._left is None
        if not piece or not is_flowing or not self._takes(len(piece)):
            return False
        self._send_now(piece, is_last=False)
        self._has_pushed = True
        return True

    def has_pushed(self) -> bool:
        """Whether anything was pushed since this was last asked."""
        pushed, self._has_pushed = self._has_pushed, False
        return pushed

    def reply(self, status: int, headers: Sequence[Header], body: bytes) -> bool:
        """Send a whole response with a length at once; false where ``send`` is needed.

        Raises RuntimeError for a header that cannot be sent.
        """
        if self.started or self.scope["method"] == "HEAD" or not self._takes(len(body)):
            return False
        self._head(status, headers)
        self._send_now(b"" if self.is_bodiless else body, is_last=True)
        self._end()
        return True

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Call it once, if the client disconnects before the response is complete."""
        if self.gone:
            callback()
        else:
            self._on_disconnect = callback

    @property
    def _is_over(self) -> bool:
        return self.gone or self.response_complete

    def _begin(self, status: int, headers: Sequence[Header]) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self._head(status, headers)
        asyncio.get_running_loop().call_soon(self.connection.flush)

    def _head(self, status: int, headers: Sequence[Header]) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self.expects_continue = False
        self.is_bodiless = self.scope["method"] == "HEAD" or status in BODILESS
        whole = [(b":status", b"%d" % status), (b"date", _date(int(time()))), *headers]
        format_headers(whole[1:])
        for name, value in headers:
            if name.lower() == b"content-length" and not self.is_bodiless:
                self._left = int(value)
        self.started = True
        self.connection.send_head(self.number, [each for each in whole if each[0].lower() != b"te"])

    def _takes(self, size: int) -> bool:
        """Whether so much can be sent at once, and no other stream waits for the window."""
        connection = self.connection
        if self._is_over or self._stuck is not None or connection.queued:
            return False
        return size <= min(LONG, connection.room(self.number))

    def _send_now(self, piece: bytes, *, is_last: bool) -> None:
        """Send what there is room for, in frames."""
        at, end, frames = 0, len(piece), 0
        while at < end or not frames:
            begun, at, frames = at, min(at + MAX_PIECE, end), frames + 1
            is_end = is_last and at == end
            self.connection.send_body(self.number, piece[begun:at], is_last=is_end)
        self.connection.on_body_sent(self.number, frames)

    async def _write(self, piece: bytes, *, is_last: bool) -> None:
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0 or (is_last and self._left):
                raise RuntimeError("the body is not as long as announced")
        at, end = 0, 0 if self.is_bodiless else len(piece)
        while at < end or is_last:
            # RFC 9113, section 6.9.1: an empty frame needs no window.
            room = await self._room(is_begun=at > 0) if end else 0
            if self.gone:
                return
            begun, at = at, min(at + room, end)
            is_end = is_last and at == end
            self.connection.send_body(self.number, piece[begun:at], is_last=is_end)
            self.connection.on_body_sent(self.number)
            if is_end:
                self._end()
                return

    async def _room(self, *, is_begun: bool) -> int:
        """How many bytes may be sent in one frame, as soon as there are any."""
        if (room := self._free()) > 0:
            return room
        self._stuck, self._stuck_at = asyncio.get_running_loop().time(), self.connection.written
        try:
            while not self.gone and (room := self._free()) <= 0:
                has_room = self._has_room = self._has_room or asyncio.Event()
                has_room.clear()
                is_queued = self.connection.is_congested
                self.connection.queued += is_queued
                try:
                    await has_room.wait()
                finally:
                    self.connection.queued -= is_queued
        except asyncio.CancelledError:
            if is_begun:  # Nothing can follow a part of a piece.
                self._on_disconnect = None  # The client has not disconnected.
                self.reset(ResetReason.FAILED)
            raise
        finally:
            self._stuck = None
        return room

    def _free(self) -> int:
        return 0 if self.gone else min(self.connection.room(self.number), MAX_PIECE)

    def _end(self) -> None:
        self.response_complete = True
        self._ended = asyncio.get_running_loop().time()
        self.body.read()
        self._wake()
        self._settle()

    # The end.

    def reset(self, reason: ResetReason) -> None:
        """End both directions."""
        if not self.gone:
            self._try(lambda: self.connection.reset(self.number, reason))
            self.drop()

    def _fail(self) -> None:
        """Respond with 500, or reset a stream whose response has begun."""
        if self._is_over:
            return
        if not self.started:
            self._respond(500, FAILED_HEADERS, FAILED)
        if not self.response_complete:
            self.reset(ResetReason.FAILED)

    def _respond(self, status: int, headers: Sequence[Header], body: bytes) -> None:
        """Send a whole response, if the client's window allows it."""

        def send() -> None:
            self._begin(status, headers)
            self.connection.send_body(self.number, b"" if self.is_bodiless else body, is_last=True)
            self._end()

        self._try(send)

    def _try(self, work: Callable[[], None]) -> None:
        """Do what fails if the client has reset the stream."""
        try:
            work()
        except ProtocolError:
            log.debug("a stream could not be ended in order", exc_info=True)
        self.connection.flush()

    def _settle(self) -> None:
        if self.response_complete and self.body.is_complete:
            self.connection.forget(self.number)

    def _wake(self) -> None:
        self._has_input = True
        if self._received is not None:
            self._received.set()


def refusal_headers(body: bytes) -> list[Header]:
    return [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]


@lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
