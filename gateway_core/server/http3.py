"""One client's HTTP/3 connection at the edge: the same limits as HTTP/2's.

```text
datagrams ──▶ Quic (encryption, windows) ──▶ Http (frames, headers) ──▶ Multiplexed
```
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import CONNECTION_SPECIFIC_HEADERS, ErrorCode
from aioquic.h3.connection import ProtocolError as HttpError
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.events import (
    ConnectionTerminated,
    HandshakeCompleted,
    ProtocolNegotiated,
    QuicEvent,
    StopSendingReceived,
    StreamDataReceived,
    StreamReset,
)

from .awaited import Awaited
from .door import App, Door
from .flood import RESET_COST, Credit, Flood
from .line import Header, Why
from .multiplexed import Multiplexed
from .pseudo_heads import head_of, list_size
from .quic_engine import HELD, LINE_HELD, Http, Quic

log = logging.getLogger(__name__)

CODES = {
    Why.DONE: ErrorCode.H3_NO_ERROR,
    Why.GIVEN_UP: ErrorCode.H3_REQUEST_CANCELLED,
    Why.FAILED: ErrorCode.H3_INTERNAL_ERROR,
    Why.MALFORMED: ErrorCode.H3_MESSAGE_ERROR,
}
GIVEN = 2
"""How many frames that bring nothing a client may send for each piece of an answer: one that ends
its body, and one that says how much the answer matters."""
PING = 5.0
"""Seconds between two signs of life while a request runs."""


class Host(Protocol):
    """Where datagrams come from."""

    def shaken(self, connection: "Http3") -> None:
        """The client has shown that its address is its own."""

    def left(self, connection: "Http3") -> None:
        """It serves nothing any more."""

    def gone(self, connection: "Http3") -> None:
        """Nothing is sent to it any more either."""


class Http3(Multiplexed, QuicConnectionProtocol):
    """One connection."""

    version = "3"
    troubles = (ValueError, RuntimeError, HttpError)

    def __init__(self, app: App, door: Door, quic: Quic, host: Host) -> None:
        Multiplexed.__init__(self, app, door)
        QuicConnectionProtocol.__init__(self, quic)
        self.quic, self.host = quic, host
        quic.unread = self._unread
        self.http: Http | None = None
        """Is there as soon as it is agreed on."""
        self.heads = Awaited()
        self._credit = Credit(door.now)
        self._is_shaken = self._is_ending = self._is_lost = False
        self._end: int | None = None
        """The first request that is not served, once no more are."""
        self._pinged = door.now

    # What the network tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.door.visitors.add(self)
        self.server = transport.get_extra_info("sockname")[:2]

    def datagram_received(self, data: bytes | str, addr: Any) -> None:
        """What there is to answer is sent when all has been read that has come by now."""
        self._credit.earn(self.door.now)
        self.quic.receive_datagram(cast(bytes, data), addr, asyncio.get_running_loop().time())
        self._process_events()
        self._transmit_soon()
        self._moved()

    def transmit(self) -> None:
        if self._transport is not None and not (self._transport.is_closing() or self._is_lost):
            try:
                super().transmit()
            except Exception:  # Whoever called it could do nothing better.
                self._fail()

    def _handle_timer(self) -> None:
        try:
            super()._handle_timer()
            self._moved()
        except Exception:  # As above: there is nobody but the event loop.
            self._fail()

    def _fail(self) -> None:
        log.exception("an HTTP/3 connection failed")
        self._is_lost = True
        self.let_go()
        self._leave()
        self.host.gone(self)

    def _moved(self) -> None:
        """Something may have come or gone: look who waited for it."""
        if self.quic.is_closing:
            self._leave()
        elif self._is_ending:
            self.farewell()
        self.wake_senders()

    def quic_event_received(self, event: QuicEvent) -> None:
        take = _TAKES.get(type(event))
        if take is not None:
            take(self, event)
        if self.http is None or self.deaf:
            return
        try:
            for happening in self.http.handle_event(event):
                self._hear(happening)
            if isinstance(event, StreamReset | StopSendingReceived):
                self._take_reset(event.stream_id)
            elif isinstance(event, StreamDataReceived) and event.end_stream:
                self._take_last(event.stream_id)
        except Flood as flood:
            log.info("an HTTP/3 connection is closed: %s", flood)
            self.throw_out()

    # What the client tells.

    def _take_protocol(self, event: ProtocolNegotiated) -> None:
        most = list_size(self.door.limits)
        self.http = http = Http(self.quic, most, self._credit.spend)
        self.quic.unread_besides = lambda: http.unread

    def _take_handshake(self, event: HandshakeCompleted) -> None:
        """From here on the client's address is known to be its own; a later one may not be."""
        self._is_shaken = True
        self.mark = self.door.now
        address = self.quic.get_peer_address()
        self.client = address and (address[0], address[1])
        self.host.shaken(self)

    def _take_end(self, event: ConnectionTerminated) -> None:
        self._leave()
        self.host.gone(self)

    def _take_bytes(self, event: StreamDataReceived) -> None:
        if _is_request(event.stream_id):
            self.heads.see(event.stream_id, self.door.now)

    def _take_last(self, number: int) -> None:
        """A stream has come whole; those that are no requests are to stay open."""
        self.heads.drop(number)
        if not _is_request(number):
            self._credit.spend(RESET_COST)

    def _hear(self, event: object) -> None:
        if isinstance(event, HeadersReceived):
            if self.heads.take(event.stream_id):
                self._take_request(event)
            elif event.stream_id not in self.streams:  # It was given up before its head came.
                self._spoken.give_up(event.stream_id)
            elif event.stream_ended:  # Trailers, which are dropped.
                self.complete(event.stream_id)
        elif isinstance(event, DataReceived):
            stream = self.streams.get(event.stream_id)
            if stream is not None and event.data:
                stream.take(event.data, len(event.data), self.door.now)
            if event.stream_ended:
                self.complete(event.stream_id)

    def _take_request(self, event: HeadersReceived) -> None:
        number = event.stream_id
        if self.quic.is_unwanted(number):  # Packets may change places on their way.
            self._stop(number, ErrorCode.H3_REQUEST_CANCELLED, is_whole=event.stream_ended)
            return
        if self.is_busy or (self._end is not None and number >= self._end):
            self._stop(number, ErrorCode.H3_REQUEST_REJECTED, is_whole=event.stream_ended)
            return
        self.begin(number, head_of(event.headers, has_body=not event.stream_ended))
        if event.stream_ended:
            self.complete(number)

    def _take_reset(self, number: int) -> None:
        """The client has given up a request, or does not want its answer."""
        self.heads.drop(number)
        self.quic.forget_input(number)
        self._credit.spend(RESET_COST)
        stream = self.streams.get(number)
        if stream is not None:
            if not stream.answered:
                self._stop(number, ErrorCode.H3_REQUEST_CANCELLED, is_whole=stream.body.is_whole)
            stream.drop()

    # What the streams want.

    @property
    def is_crowded(self) -> bool:
        return self.quic.held_in_all() >= LINE_HELD

    @property
    def is_heard(self) -> bool:
        return self.quic.may_hear

    def room(self, number: int) -> int:
        return min(HELD - self.quic.held(number), LINE_HELD - self.quic.held_in_all())

    def send_head(self, number: int, headers: Sequence[Header]) -> None:
        lowered = [(name.lower(), value.strip()) for name, value in headers]
        fit = [each for each in lowered if each[0] not in CONNECTION_SPECIFIC_HEADERS]
        self._spoken.send_headers(number, fit)

    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None:
        self._spoken.send_data(number, piece, is_last)
        self.written += len(piece)

    def reset(self, number: int, why: Why) -> None:
        stream = self.streams.get(number)
        is_whole = stream is None or stream.body.is_whole
        if why is Why.DONE:
            self.quic.stop_stream(number, CODES[why])
        else:
            self._stop(number, CODES[why], is_whole=is_whole)

    def piece_sent(self, number: int, frames: int = 1) -> None:
        self._credit.give(GIVEN)
        super().piece_sent(number, frames)

    def restore_changes(self, number: int, size: int) -> None:
        self.flush()

    def flush(self) -> None:
        self._transmit_soon()

    def _stop(self, number: int, code: ErrorCode, *, is_whole: bool) -> None:
        """End what we send on a stream, and what the client does if that is not whole."""
        self.quic.reset_stream(number, code)
        self._spoken.give_up(number)
        if not is_whole:
            self.quic.stop_stream(number, code)

    def _unread(self, number: int) -> int:
        stream = self.streams.get(number)
        return 0 if stream is None else stream.body.unread

    @property
    def _spoken(self) -> Http:
        assert self.http is not None
        return self.http

    # What the door wants.

    def look(self, now: float) -> None:
        limits = self.door.limits
        if not self.streams:
            self._see_what_moves(now)
            if now - max(self.mark, self.moved) > limits.keep_alive + limits.body_silence:
                self.hang_up(ErrorCode.H3_NO_ERROR)  # The last answers are not taken.
        super().look(now)
        if self.streams and now - self._pinged > PING:
            self._pinged = now
            self.quic.send_ping(0)
            self.flush()

    def is_slow(self, now: float) -> bool:
        within = self.door.limits.head_time
        return self.heads.is_late(now, within) or (not self._is_shaken and now - self.mark > within)

    def on_the_way(self) -> int:
        return self.quic.held_in_all()

    def shut(self) -> None:
        if self.http is not None and self._end is None:
            self._end = self.heads.next
            self.http.say_farewell(self._end)
            self.flush()
        super().shut()

    def abort(self) -> None:
        self.hang_up(ErrorCode.H3_NO_ERROR)

    # The end.

    def farewell(self) -> None:
        """End the connection once the client has all that was said."""
        self._is_ending = True
        if not self.streams and not self.on_the_way():
            self.hang_up(ErrorCode.H3_NO_ERROR)

    def throw_out(self) -> None:
        self.hang_up(ErrorCode.H3_EXCESSIVE_LOAD)

    def hang_up(self, code: ErrorCode) -> None:
        """Say why, and hear nothing more."""
        self.close(error_code=code)
        self._leave()

    def let_go(self) -> None:
        """Send nothing any more."""
        for waiting in (self._timer, self._transmit_task):
            if waiting is not None:
                waiting.cancel()

    def _leave(self) -> None:
        if not self.deaf:
            self.deaf = True
            self.door.visitors.discard(self)
            self.leave_streams()
            self.transmit()  # The last word, before there may be nothing to send it with.
            self.host.left(self)


def _is_request(number: int) -> bool:
    return number % 4 == 0


_TAKES: dict[type[QuicEvent], Callable[[Http3, Any], None]] = {
    ProtocolNegotiated: Http3._take_protocol,
    HandshakeCompleted: Http3._take_handshake,
    ConnectionTerminated: Http3._take_end,
    StreamDataReceived: Http3._take_bytes,
}
