"""One HTTP/1.1 connection: writes a request, reads the answer, keeps its own time.

    exchange ──▶ head and body ──▶ socket ──▶ Reader ──▶ Answer ──▶ next
                                                │
                            the answer is whole └──▶ back to the owner

Everything happens in callbacks of the event loop. The only things waited for
are the head (in ``exchange``) and more of the body (in ``more``), each with a
single future and no task.
"""

import asyncio
import math
import ssl
from collections.abc import Awaitable, Iterator
from typing import Any, Protocol, cast

from ...contracts.errors import TransportError
from ...contracts.exchange import PIECE, BodyParts
from .answers import Taker, UpstreamAnswer, Waiter
from .failures import Stale, abandoned, answer_timeout, broken_off, silence, unanswered
from .heads import RequestBytes
from .limits import TransportLimits
from .reading import UNREADABLE, Reader

SLICE = PIECE
"""A longer body goes to the socket in pieces of this size and is never copied whole."""
ROOM = 32 * 1024
"""Bytes that are read at once, so that not much more is held than may be held."""
LOOKS = 4
"""How often the alarm rings in the longest silence, to see whether anything came."""
MANY = 4096
"""Reading stops above this many pieces too, because a piece may be a single byte."""


class Owner(Protocol):
    """Who keeps a connection between its exchanges."""

    def take_back(self, connection: "UpstreamConnection") -> None:
        """The connection is free."""
        ...

    def retire(self, connection: "UpstreamConnection") -> None:
        """The connection is about to close and may not be used again."""
        ...

    def lose(self, connection: "UpstreamConnection") -> None:
        """The connection has closed."""
        ...


class UpstreamConnection(asyncio.BufferedProtocol):
    """A connection that carries one exchange at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limits: TransportLimits,
        room: memoryview | None = None,
    ) -> None:
        """``room`` is the buffer that the socket is read into. It is free again when
        ``buffer_updated`` returns, so all connections of an event loop may share one."""
        self.owner: Owner | None = None
        self.closed = False
        """Closing or closed; no exchange may begin."""
        self.held = False
        self._loop = loop
        self._limits = limits
        self._room = room or memoryview(bytearray(ROOM))
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._reader = Reader()
        self._answer: UpstreamAnswer | None = None
        self._used = False
        self._unsent: bytes | memoryview | None = None
        self._rest: Iterator[bytes | memoryview] = iter(())
        self._full = False
        self._patience = self._silence = 0.0
        self._deadline = math.inf
        self._received = False
        """More of a body has come since the alarm was looked at."""
        self._alarm_at = math.inf
        self._alarm: asyncio.TimerHandle | None = None

    async def exchange(self, message: RequestBytes) -> UpstreamAnswer:
        """Send a request and wait for the head of its answer.

        Raises Stale when a connection that was used before is found dead, else
        TransportError. Cancelling closes the connection.
        """
        return await self.headed(self.begin(message))

    def begin(self, message: RequestBytes) -> UpstreamAnswer:
        """Send a request and return its answer, still empty. Raises Stale."""
        # The transport may be closing without ``connection_lost`` having run yet: asyncio calls it
        # one turn of the loop later.
        if self.closed or self._transport.is_closing():
            raise Stale(sent=False)
        answer = self._answer = UpstreamAnswer(self)
        self._reader.begin(answer, bodiless=message.bodiless)
        self._patience, self._silence = message.patience, message.silence
        self._expect_by(self._loop.time() + self._patience)
        body = message.body
        try:
            if len(body) <= SLICE and type(body) is bytes:
                # One write is one call into the kernel.
                self._transport.write(message.head + body)
            else:
                self._transport.write(message.head)
                self._rest = slices(body)
                self._unsent = next(self._rest, None)
                self._push()
        except BaseException:  # A plugin's body may be anything.
            self.drop(answer)
            raise
        return answer

    async def headed(self, answer: UpstreamAnswer) -> UpstreamAnswer:
        """Wait for the head of an answer that was begun. Raises Stale, TransportError."""
        if not answer.status and answer.failure is None:
            await self._woken(answer)
        if not answer.status:
            raise answer.failure or unanswered()
        return answer

    def more(self, answer: UpstreamAnswer) -> Awaitable[None]:
        """Wait until the answer is woken. Cancelling closes the connection."""
        if answer.waiter is not None:
            raise RuntimeError("this answer is already being read")
        self._expect_more()
        return self._woken(answer)

    def follow(self, answer: UpstreamAnswer, waiter: Waiter, taker: Taker | None) -> None:
        """Pass more to ``taker`` as it comes; wake ``waiter`` when the taker stops, when there is
        no taker, and when the answer has ended."""
        self._expect_more()
        answer.waiter, answer.taker = waiter, taker

    def rest(self) -> None:
        """Be free for a request before there was any."""
        if self.owner is not None:
            self._expect_by(self._loop.time() + self._limits.keep_alive)
            self.owner.take_back(self)

    def resume(self) -> None:
        """Read on, if reading was held because nobody took what had come."""
        if self.held and not self.closed:
            self.held = False
            self._transport.resume_reading()

    def drop(self, answer: UpstreamAnswer) -> None:
        """Close the connection, unless it has gone on to other work."""
        if self._answer is answer:
            self._fail(abandoned())

    def abort(self) -> None:
        """Close at once; what is not sent is lost."""
        if not self.closed:
            self.closed = True
            if self.owner is not None:
                self.owner.retire(self)
            self._transport.abort()

    async def _woken(self, answer: UpstreamAnswer) -> None:
        waiter = answer.waiter = self._loop.create_future()
        try:
            await waiter
        except BaseException:
            # HTTP/1.1 cannot cancel one exchange: what is still to come would be read as the
            # answer to the next request (RFC 9112 section 9.3), so the connection goes.
            self.drop(answer)
            raise

    # Writing.

    def _push(self) -> None:
        """Hand over as much of the body as the socket takes without piling up."""
        while self._unsent is not None and not self._full and not self._transport.is_closing():
            piece, self._unsent = self._unsent, next(self._rest, None)
            self._transport.write(piece)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._unsent is not None:
            # The provider is still reading the request, so its time to answer starts anew.
            self._expect_by(self._loop.time() + self._patience)
            self._push()

    # Reading.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._room[:nbytes])

    def data_received(self, data: bytes | memoryview) -> None:
        """Some of an answer; the parser copies what of it is kept."""
        answer = self._answer
        if answer is None:
            # Bytes without a request belong to no answer: RFC 9112 section 9.2 has the client
            # close the connection.
            self.abort()
            return
        taker = answer.taker
        if taker is None:
            self._gather(data, answer)
            return
        # A stream's events come here one by one, so nothing below is a function of its own.
        reader, chunks = self._reader, answer.chunks
        parse = reader.parse
        try:
            parse(data)
            if not chunks:
                reader.note_silence(len(data))
        except (TransportError, *UNREADABLE) as error:
            try:
                reader.stop(error)
            except TransportError as failure:
                self._fail(failure)
            else:
                self._release(answer)
            return
        if reader.complete:
            self._release(answer)
            return
        self._received = True
        if not chunks:
            return
        reader.quiet = 0
        try:
            goes_on = taker(chunks.pop() if len(chunks) == 1 else answer.take())
        # A taker may run a plugin's code; its error belongs to the task that reads, not to the
        # event loop.
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            answer.wake(error)
        else:
            if not goes_on:
                answer.wake()

    def _gather(self, data: bytes | memoryview, answer: UpstreamAnswer) -> None:
        """Keep more of an answer that is read with ``next``."""
        try:
            self._reader.feed(data, answer)
        except TransportError as failure:
            self._fail(failure)
            return
        if self._reader.complete:
            self._release(answer)
        elif answer.status:
            self._received = True
            answer.wake()
            if answer.chunks:
                answer.buffered += len(data)
                is_much = answer.buffered > self._limits.buffer or len(answer.chunks) > MANY
                # Unread bytes then stay in the kernel, and TCP slows the vendor down.
                if is_much and not self.held:
                    self.held = True
                    self._transport.pause_reading()

    def eof_received(self) -> None:
        answer = self._answer
        if answer is not None and self._reader.until_close and self._ended_properly():
            self._answer = None
            answer.end()
        self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._answer is not None and self._answer.status:
            self._fail(broken_off())
        # A kept connection may be closed by the server in the moment it is used again, RFC 9112
        # section 9.3.1; without a byte of answer the request may be sent once more.
        elif self._used and not self._reader.quiet:
            self._fail(Stale(sent=True))
        else:
            self._fail(unanswered())
        self._reader.close()
        self._unsent = None
        if self.owner is not None:
            self.owner.lose(self)

    def _ended_properly(self) -> bool:
        """Whether the provider itself ended the stream, not somebody on the way."""
        # RFC 9112 section 9.8: without a TLS closure alert the answer may have been truncated.
        tls: Any = self._transport.get_extra_info("ssl_object")
        if tls is None:
            return True
        try:
            return not tls.read(1)
        except ssl.SSLError:
            return False

    def _release(self, answer: UpstreamAnswer) -> None:
        """The answer is whole: the connection is free for the next one, if it can be."""
        self._answer = None
        answer.end()
        # After an answer that came before the whole request was sent, the server would read the
        # next request as the rest of this one's body.
        if not self._reader.reusable or self._unsent is not None or self.owner is None:
            self.abort()
            return
        self._used = True
        self._expect_by(self._loop.time() + self._limits.keep_alive)
        self.owner.take_back(self)

    def _fail(self, failure: TransportError) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.end(failure)
        self.abort()

    # Time. One alarm serves all waits: it is moved only when it would ring too
    # late, and when it rings early it is set again. Of what flows past it is
    # only known that something came since the last ring.

    def _expect_by(self, deadline: float) -> None:
        self._received, self._deadline = False, deadline
        if deadline < self._alarm_at:
            self._set_alarm(deadline)

    def _expect_more(self) -> None:
        """More of a body is to come."""
        now, silence = self._loop.time(), self._silence
        self._received, self._deadline = False, now + silence
        if now + silence / LOOKS < self._alarm_at:
            self._set_alarm(now + silence / LOOKS)

    def _set_alarm(self, at: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        now, limits = self._loop.time(), self._limits
        answer = self._answer
        if self._received:
            self._received, self._deadline = False, now + self._silence
        waited_for = answer is None or answer.waiter is not None
        # While nobody waits, the reader is slow and not the vendor: its silence does not count.
        if now >= self._deadline and waited_for:
            if answer is None:
                self.abort()
            else:
                self._fail(silence() if answer.status else answer_timeout())
            return
        # Never further away than an idle connection's end, so that ends are never too late.
        latest = now + min(limits.keep_alive, self._silence / LOOKS)
        self._set_alarm(min(self._deadline, latest) if self._deadline > now else latest)


def slices(body: bytes | BodyParts) -> Iterator[bytes | memoryview]:
    """The pieces of a long body."""
    if isinstance(body, BodyParts):
        yield from body
        return
    view = memoryview(body)
    for start in range(0, len(view), SLICE):
        yield view[start : start + SLICE]
