"""One request and its answer on an HTTP/2 or HTTP/3 connection, as the application sees them.

```text
the head ──▶ take … complete ──▶ (answered) ──▶ gone from the connection
                 │ reset by the client, silence, the connection's end
                 ▼
               leave: the application is told, and nothing more is sent
```
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from email.utils import formatdate
from functools import lru_cache
from time import time

import msgspec

from ..contracts.asgi import ON_DISCONNECT, PUSH, REPLY
from .cycle import BODILESS, FAILED, FAILED_HEADERS, LONG, Header, lines
from .door import App, Message
from .heads import Refused
from .incoming import Incoming
from .limits import Limits
from .line import Line, Why

log = logging.getLogger(__name__)

LONGEST = 16 * 1024
"""Bytes of a body that are sent at once, so that it is the others' turn soon."""


class Stream:
    """What the application reads from and writes to."""

    def __init__(self, line: Line, number: int, scope: Message, now: float) -> None:
        self.line, self.number, self.scope = line, number, scope
        self.expects_continue = any(
            name == b"expect" and value.lower() == b"100-continue"
            for name, value in scope["headers"]
        )
        self.body = Incoming(line, number, now)
        self.gone = self.started = self.answered = self.is_bodiless = False
        self._ended = 0.0
        """When the answer ended."""
        self._stuck: float | None = None
        """Since when the answer waits for the client to take more of it."""
        self._stuck_at = 0
        """How much the connection had sent by then."""
        self._left: int | None = None
        """How much of the answer's body is still to come, if it was announced."""
        self._told: Callable[[], None] | None = None
        """Is called if the client leaves."""
        self._has_news = False
        self._heard, self._opened = asyncio.Event(), asyncio.Event()

    async def run(self, app: App) -> None:
        """Have the request answered, whatever happens to the application."""
        try:
            await self._serve(app)
        except BaseException:
            log.exception("a request failed")
            self._fail()
        else:
            if not (self.answered or self.gone):
                log.error("a request was left without an end of its answer")
                self._fail()

    async def _serve(self, app: App) -> None:
        scope = self.scope
        scope[PUSH], scope[REPLY], scope[ON_DISCONNECT] = self.push, self.reply, self.leaving
        try:
            await app(scope, self.receive, self.send)
        finally:
            self._told = None
            for key in (PUSH, REPLY, ON_DISCONNECT):
                scope.pop(key, None)  # It holds this object, which holds the scope in turn.

    # What the connection tells.

    def take(self, data: bytes, size: int, now: float) -> None:
        """More of the body; ``size`` is what it takes of the client's window."""
        self.body.take(data, size, now)
        if self.answered:
            self.body.read()
        else:
            self._wake()

    def complete(self) -> None:
        """The request has come whole."""
        self.body.is_whole = True
        self._wake()
        self._settle()

    @property
    def is_short(self) -> bool:
        """Whether the body that has come is not as long as was announced."""
        lengths = (int(v) for name, v in self.scope["headers"] if name == b"content-length")
        return next(lengths, self.body.size) != self.body.size

    def drop(self) -> None:
        """Nobody waits for the answer, and the connection goes on."""
        self.leave()
        self.body.restore_changes()
        self.line.forget(self.number)

    def leave(self) -> None:
        """Nobody waits for the rest of the answer."""
        self.gone = True
        self.body.drop()
        self._wake()
        self.wake_sender()
        told, self._told = self._told, None
        if told is not None and not self.answered:
            told()

    def wake_sender(self) -> None:
        """There may be room to send more."""
        self._opened.set()

    def look(self, now: float, limits: Limits) -> None:
        """End it if the client takes too long with the body, or with taking the answer."""
        if self._is_stuck(now, limits):
            self.reset(Why.GIVEN_UP)
        if self.gone or self.body.is_whole:
            return
        if self.answered:
            if now - self._ended > limits.linger:
                self.reset(Why.DONE)
        elif self.body.silence(now) > limits.body_silence:
            self._refuse(Refused(408, "The request did not come in time"))

    def _is_stuck(self, now: float, limits: Limits) -> bool:
        since = self._stuck
        if since is None:
            return False
        if self.line.delivered < self._stuck_at:  # What it waits for may be on its way yet.
            self._stuck = since = max(since, self.line.moved)
        if self.line.is_crowded:
            since = max(since, self.line.sent)  # Others are sent to, and it waits for its turn.
        return now - since > limits.body_silence

    # What the application calls.

    async def receive(self) -> Message:
        if self.expects_continue and not self._is_over:
            self.expects_continue = False
            self.line.send_head(self.number, [(b":status", b"100")])
            self.line.flush()
        while not (self._has_news or self._is_over):
            self._heard.clear()
            await self._heard.wait()
        if self._is_over:
            return {"type": "http.disconnect"}
        self._has_news = False
        is_last = self.body.is_whole
        return {"type": "http.request", "body": self.body.read(), "more_body": not is_last}

    async def send(self, message: Message) -> None:
        if self.gone:
            return
        kind = message["type"]
        if kind == "http.response.body" and self.started and not self.answered:
            await self._write(message.get("body", b""), is_last=not message.get("more_body"))
        elif kind == "http.response.start" and not self.started:
            self._begin(message["status"], message.get("headers", ()))
        else:
            raise RuntimeError(f"{kind} is out of turn")

    def push(self, piece: bytes) -> bool:
        """More of a body whose head is out, at once; false for what needs ``send``."""
        is_flowing = self.started and not self.is_bodiless and self._left is None
        if not piece or not is_flowing or not self._takes(len(piece)):
            return False
        self._pour(piece, is_last=False)
        return True

    def reply(self, status: int, headers: Sequence[Header], body: bytes) -> bool:
        """A whole answer at once, which names its length; false for what needs ``send``.

        Raises RuntimeError for a header that cannot be sent.
        """
        if self.started or self.scope["method"] == "HEAD" or not self._takes(len(body)):
            return False
        self._head(status, headers)
        self._pour(b"" if self.is_bodiless else body, is_last=True)
        self._end()
        return True

    def leaving(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once, if the client leaves before the answer has ended."""
        if self.gone:
            told()
        else:
            self._told = told

    @property
    def _is_over(self) -> bool:
        return self.gone or self.answered

    def _begin(self, status: int, headers: Sequence[Header]) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self._head(status, headers)
        asyncio.get_running_loop().call_soon(self.line.flush)

    def _head(self, status: int, headers: Sequence[Header]) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self.expects_continue = False
        self.is_bodiless = self.scope["method"] == "HEAD" or status in BODILESS
        whole = [
            (b":status", b"%d" % status),
            (b"date", _date(int(time()))),
            *headers,
            *self.line.usual,
        ]
        lines(whole[1:])
        for name, value in headers:
            if name.lower() == b"content-length" and not self.is_bodiless:
                self._left = int(value)
        self.started = True
        self.line.send_head(self.number, [each for each in whole if each[0].lower() != b"te"])

    def _takes(self, size: int) -> bool:
        """Whether so much can be sent at once, and nobody else waits for room."""
        line = self.line
        if self._is_over or self._stuck is not None or line.queued:
            return False
        return size <= min(LONG, line.room(self.number))

    def _pour(self, piece: bytes, *, is_last: bool) -> None:
        """Send what there is room for."""
        at, end, frames = 0, len(piece), 0
        while at < end or not frames:
            begun, at, frames = at, min(at + LONGEST, end), frames + 1
            is_end = is_last and at == end
            self.line.send_body(self.number, piece[begun:at], is_last=is_end)
        self.line.piece_sent(self.number, frames)

    async def _write(self, piece: bytes, *, is_last: bool) -> None:
        self._count(len(piece), is_last=is_last)
        at, end = 0, 0 if self.is_bodiless else len(piece)
        while at < end or is_last:
            room = await self._room(is_begun=at > 0) if end else 0  # What is empty needs none.
            if self.gone:
                return
            begun, at = at, min(at + room, end)
            is_end = is_last and at == end
            self.line.send_body(self.number, piece[begun:at], is_last=is_end)
            self.line.piece_sent(self.number)
            if is_end:
                self._end()
                return

    def _count(self, size: int, *, is_last: bool) -> None:
        """Raises RuntimeError for a body of another length than was announced."""
        if self._left is not None:
            self._left -= size
            if self._left < 0 or (is_last and self._left):
                raise RuntimeError("the body is not as long as was announced")

    async def _room(self, *, is_begun: bool) -> int:
        """How many bytes may be sent in one frame, as soon as there are any."""
        if (room := self._free()) > 0:
            return room
        self._stuck, self._stuck_at = asyncio.get_running_loop().time(), self.line.written
        try:
            while not self.gone and (room := self._free()) <= 0:
                await self._more_room()
        except asyncio.CancelledError:
            if is_begun:  # Nothing makes sense behind a part of a piece.
                self._told = None  # It is not the client who leaves.
                self.reset(Why.FAILED)
            raise
        finally:
            self._stuck = None
        return room

    def _free(self) -> int:
        return 0 if self.gone else min(self.line.room(self.number), LONGEST)

    async def _more_room(self) -> None:
        """Wait until there may be more."""
        self._opened.clear()
        in_line = self.line.is_crowded
        self.line.queued += in_line
        try:
            await self._opened.wait()
        finally:
            self.line.queued -= in_line

    def _end(self) -> None:
        self.answered = True
        self._ended = asyncio.get_running_loop().time()
        self.body.read()
        self._wake()
        self._settle()

    # The end.

    def reset(self, why: Why) -> None:
        """End both directions."""
        if not self.gone:
            self._try(lambda: self.line.reset(self.number, why))
            self.drop()

    def _refuse(self, refused: Refused) -> None:
        """Answer in the application's place, and hear nothing more."""
        if self.started:
            self.reset(Why.GIVEN_UP)
        else:
            body = msgspec.json.encode({"error": refused.message})
            self._say(refused.status, refusal_headers(body), body)
            self.reset(Why.DONE)

    def _fail(self) -> None:
        """Say that it went wrong, or end in the middle of what was said already."""
        if self._is_over:
            return
        if not self.started:
            self._say(500, FAILED_HEADERS, FAILED)
        if not self.answered:
            self.reset(Why.FAILED)

    def _say(self, status: int, headers: Sequence[Header], body: bytes) -> None:
        """A whole answer at once, if the client's window takes it."""

        def say() -> None:
            self._begin(status, headers)
            self.line.send_body(self.number, b"" if self.is_bodiless else body, is_last=True)
            self._end()

        self._try(say)

    def _try(self, work: Callable[[], None]) -> None:
        """Do what the client may have made impossible."""
        try:
            work()
        except self.line.troubles:
            log.debug("a stream could not be ended in order", exc_info=True)
        self.line.flush()

    def _settle(self) -> None:
        if self.answered and self.body.is_whole:
            self.line.forget(self.number)

    def _wake(self) -> None:
        self._has_news = True
        self._heard.set()


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
