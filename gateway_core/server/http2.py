"""One client's HTTP/2 connection at the edge: the limits of HTTP/1.1, and those of streams.

```text
bytes ──▶ Frames (floods, slow heads) ──▶ h2 (protocol, flow control) ──▶ Multiplexed
```
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
    WindowUpdated,
)
from h2.exceptions import ProtocolError, StreamClosedError

from .door import App, Door
from .flood import RESET_COST, Flood
from .frames import Frames
from .heads import Headers
from .http2_engine import engine_of
from .line import Header, Why
from .multiplexed import LINE_WINDOW, TABLE, Address, Multiplexed
from .outgoing import on_the_way
from .pseudo_heads import head_of, list_size

log = logging.getLogger(__name__)

CODES = {
    Why.DONE: ErrorCodes.NO_ERROR,
    Why.GIVEN_UP: ErrorCodes.CANCEL,
    Why.FAILED: ErrorCodes.INTERNAL_ERROR,
    Why.MALFORMED: ErrorCodes.PROTOCOL_ERROR,
}


class Http2(Multiplexed, asyncio.Protocol):
    """One connection."""

    version = "2"
    troubles = (ProtocolError,)

    def __init__(self, app: App, door: Door) -> None:
        super().__init__(app, door)
        self.h2 = engine_of(door.limits)
        self.frames = Frames(2 * list_size(door.limits), door.now)
        self.is_writable = True
        self.transport: asyncio.Transport

    # The life of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if self.door.is_full:
            self.deaf = True
            self.transport.abort()
            return
        self.door.visitors.add(self)
        self.server, self.client = self._address("sockname"), self._address("peername")
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(LINE_WINDOW - self.h2.inbound_flow_control_window)
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        try:
            self.frames.feed(data, self.door.now)
            for event in self.h2.receive_data(data):
                take = _TAKES.get(type(event))
                if take is not None and not self.deaf:
                    take(self, event)
        except Flood as flood:
            log.info("an HTTP/2 connection is closed: %s", flood)
            self.hang_up(ErrorCodes.ENHANCE_YOUR_CALM)
        except ProtocolError as error:
            self.hang_up(error.error_code)
        else:
            self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self.deaf = True
        self.door.visitors.discard(self)
        self.leave_streams()

    def pause_writing(self) -> None:
        """The client does not read: it is not heard either, or answers to it would heap up."""
        self.is_writable = False
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.is_writable = True
        self.frames.excuse(self.door.now)
        self.transport.resume_reading()
        self.wake_senders()

    # What the client tells.

    def _take_request(self, event: RequestReceived) -> None:
        number = event.stream_id
        if self.is_busy:
            with suppress(StreamClosedError):  # The client has reset it in the same breath.
                self.h2.reset_stream(number, ErrorCodes.REFUSED_STREAM)
            return
        pairs = cast(Headers, event.headers)
        self.begin(number, head_of(pairs, has_body=event.stream_ended is None))

    def _take_data(self, event: DataReceived) -> None:
        stream = self.streams.get(event.stream_id)
        data, size = event.data, event.flow_controlled_length
        if size and not data:
            self.frames.spend(1)  # All of it is padding.
        if stream is not None:
            stream.take(data, size, self.door.now)
        else:
            self.h2.acknowledge_received_data(size, event.stream_id)

    def _take_trailers(self, event: TrailersReceived) -> None:
        """They are dropped; but behind them the protocol does not look at the body's length."""
        stream = self.streams.get(event.stream_id)
        if stream is not None and stream.is_short:
            stream.reset(Why.MALFORMED)
            self.frames.spend(RESET_COST)

    def _take_end(self, event: StreamEnded) -> None:
        self.complete(event.stream_id)

    def _take_reset(self, event: StreamReset) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.drop()
        if not event.remote_reset:  # Something wrong was sent in its place.
            self.frames.spend(RESET_COST)

    def _take_settings(self, event: RemoteSettingsChanged) -> None:
        if self.h2.encoder.header_table_size > TABLE:
            self.h2.encoder.header_table_size = TABLE
        self.wake_senders()

    def _take_room(self, event: WindowUpdated) -> None:
        self.wake_senders()

    def _take_farewell(self, event: ConnectionTerminated) -> None:
        """What runs is answered yet, unless the client gives up for an error."""
        self.is_leaving = True
        if event.error_code or not self.streams:
            self.farewell()

    def _address(self, name: str) -> Address | None:
        found = self.transport.get_extra_info(name)
        return tuple(found[:2]) if found else None

    # What the streams want.

    @property
    def is_crowded(self) -> bool:
        return self.h2.outbound_flow_control_window <= 0 or not self.is_writable

    @property
    def is_heard(self) -> bool:
        return self.is_writable and self.h2.inbound_flow_control_window > 0

    def room(self, number: int) -> int:
        return self.h2.local_flow_control_window(number) if self.is_writable else -1

    def send_head(self, number: int, headers: Sequence[Header]) -> None:
        self.h2.send_headers(number, headers)

    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None:
        self.h2.send_data(number, piece, end_stream=is_last)

    def reset(self, number: int, why: Why) -> None:
        self.h2.reset_stream(number, CODES[why])

    def restore_changes(self, number: int, size: int) -> None:
        self.h2.acknowledge_received_data(size, number)
        self.flush()

    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)
            self.written += len(data)

    def piece_sent(self, number: int, frames: int = 1) -> None:
        self.frames.answered(frames)
        super().piece_sent(number, frames)

    # What the door wants.

    def is_slow(self, now: float) -> bool:
        return self.is_writable and self.frames.is_late(now, self.door.limits.head_time)

    def on_the_way(self) -> int:
        return on_the_way(self.transport)

    def abort(self) -> None:
        self.transport.abort()

    # The end.

    def farewell(self) -> None:
        self.hang_up(ErrorCodes.NO_ERROR)

    def throw_out(self) -> None:
        self.hang_up(ErrorCodes.ENHANCE_YOUR_CALM)

    def hang_up(self, code: ErrorCodes | int) -> None:
        """Say why, and hear nothing more."""
        if self.deaf:
            return
        self.deaf = True
        self.h2.close_connection(code)
        self.flush()
        self.leave_streams()
        self.transport.close()


_TAKES: dict[type[Event], Callable[[Http2, Any], None]] = {
    RequestReceived: Http2._take_request,
    DataReceived: Http2._take_data,
    StreamEnded: Http2._take_end,
    StreamReset: Http2._take_reset,
    WindowUpdated: Http2._take_room,
    TrailersReceived: Http2._take_trailers,
    RemoteSettingsChanged: Http2._take_settings,
    ConnectionTerminated: Http2._take_farewell,
}
"""Priorities are not kept."""
