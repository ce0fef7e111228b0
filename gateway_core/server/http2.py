"""One client's HTTP/2 connection at the edge: the limits of HTTP/1.1, and those of streams.

```text
bytes ──▶ Frames (floods, slow heads) ──▶ h2 (protocol, flow control) ──▶ Stream ──▶ application
                                                                     └──▶ Stream ──▶ …
```

Running requests are at most as many as there may be streams, also when clients
reset them: one that is reset counts until the application has let go of it. All
connections together run no more requests than there may be connections.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote

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

from .door import App, Door, Message, stopping
from .frames import RESET_COST, Flood, Frames
from .heads import Refused, path_of
from .http2_engine import LINE_WINDOW, STREAMS, TABLE, engine_of, list_size
from .http2_heads import Head, check, head_of, refusing
from .outgoing import on_the_way
from .stream import Stream

log = logging.getLogger(__name__)

ASGI = {"version": "3.0", "spec_version": "2.3"}


class Multiplexed(asyncio.Protocol):
    """One connection."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door
        self.h2 = engine_of(door.limits)
        self.frames = Frames(2 * list_size(door.limits), door.now)
        self.streams: dict[int, Stream] = {}
        self.is_writable = True
        self.deaf = False
        """What comes is dropped: nothing more is wanted."""
        self.is_leaving = False
        """The client has said farewell: what runs is its last."""
        self.sent = door.now
        """When the last piece of an answer was sent."""
        self.queued = 0
        """How many streams wait for room that all of them share."""
        self.written = self.delivered = 0
        """How many bytes were sent in all, and how many of them the client has at least."""
        self.moved = door.now
        """When it was last seen to have more."""
        self.mark = door.now
        """When the last request ended."""
        self._running: set[asyncio.Task[None]] = set()
        self.transport: asyncio.Transport

    # The life of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if self.door.is_full:
            self.deaf = True
            self.transport.abort()
            return
        self.door.visitors.add(self)
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
        self._leave_streams()

    def pause_writing(self) -> None:
        """The client does not read: it is not heard either, or answers to it would heap up."""
        self.is_writable = False
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.is_writable = True
        self.frames.excuse(self.door.now)
        self.transport.resume_reading()
        self._wake_senders()

    # What the client tells.

    def _take_request(self, event: RequestReceived) -> None:
        number = event.stream_id
        if self._is_busy():
            with suppress(StreamClosedError):  # The client has reset it in the same breath.
                self.h2.reset_stream(number, ErrorCodes.REFUSED_STREAM)
            return
        head = head_of(event)
        app = stopping if self.door.closing else self.app
        try:
            check(head, self.door.limits)
        except Refused as refused:
            app = refusing(refused)
        stream = Stream(self, number, self._scope(head), self.door.now)
        self.streams[number] = stream
        task = asyncio.get_running_loop().create_task(stream.run(app))
        for tasks in (self._running, self.door.tasks):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def _is_busy(self) -> bool:
        door = self.door
        return len(self._running) >= STREAMS or len(door.tasks) >= door.limits.connections

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
            stream.reset(ErrorCodes.PROTOCOL_ERROR)
            self.frames.spend(RESET_COST)

    def _take_end(self, event: StreamEnded) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.complete()

    def _take_reset(self, event: StreamReset) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.drop()
        if not event.remote_reset:  # Something wrong was sent in its place.
            self.frames.spend(RESET_COST)

    def _take_settings(self, event: RemoteSettingsChanged) -> None:
        if self.h2.encoder.header_table_size > TABLE:
            self.h2.encoder.header_table_size = TABLE
        self._wake_senders()

    def _take_room(self, event: WindowUpdated) -> None:
        self._wake_senders()

    def _take_farewell(self, event: ConnectionTerminated) -> None:
        """What runs is answered yet, unless the client gives up for an error."""
        self.is_leaving = True
        if event.error_code or not self.streams:
            self.hang_up(ErrorCodes.NO_ERROR)

    def _scope(self, head: Head) -> Message:
        raw, _, query = path_of(head.target).partition(b"?")
        path = raw.decode("latin-1")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": "2",
            "server": self._address("sockname"),
            "client": self._address("peername"),
            "scheme": "https",
            "method": head.method.decode("latin-1"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "headers": head.headers,
            "state": {},
        }

    def _address(self, name: str) -> tuple[str, int] | None:
        found = self.transport.get_extra_info(name)
        return tuple(found[:2]) if found else None

    # What the streams want.

    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)
            self.written += len(data)

    def piece_sent(self, number: int, frames: int = 1) -> None:
        self.frames.answered(frames)
        self.sent = self.door.now
        self.streams[number] = self.streams.pop(number)  # Now it is others' turn.
        self.flush()

    def forget(self, number: int) -> None:
        self.streams.pop(number, None)
        self.mark = self.door.now
        if (self.door.closing or self.is_leaving) and not self.streams:
            self.hang_up(ErrorCodes.NO_ERROR)

    def _wake_senders(self) -> None:
        for stream in self.streams.values():
            stream.wake_sender()

    # What the door wants.

    def look(self, now: float) -> None:
        waited, limits = now - self.mark, self.door.limits
        if self.streams:
            self._see_what_moves(now)
        if self.is_writable and self.frames.is_late(now, limits.head_time):
            self.hang_up(ErrorCodes.ENHANCE_YOUR_CALM)
        elif not self.streams and waited > limits.keep_alive:
            self.hang_up(ErrorCodes.NO_ERROR)
        for stream in tuple(self.streams.values()):
            stream.look(now, limits)

    def _see_what_moves(self, now: float) -> None:
        delivered = self.written - on_the_way(self.transport)
        if delivered > self.delivered:
            self.delivered, self.moved = delivered, now

    def close_idle(self) -> None:
        if not self.streams:
            self.hang_up(ErrorCodes.NO_ERROR)

    def shut(self) -> None:
        """New requests are refused from now on, and the connection ends with the last answer."""
        self.close_idle()

    def abort(self) -> None:
        self.transport.abort()

    # The end.

    def hang_up(self, code: ErrorCodes | int) -> None:
        """Say why, and hear nothing more."""
        if self.deaf:
            return
        self.deaf = True
        self.h2.close_connection(code)
        self.flush()
        self._leave_streams()
        self.transport.close()

    def _leave_streams(self) -> None:
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            stream.leave()


_TAKES: dict[type[Event], Callable[[Multiplexed, Any], None]] = {
    RequestReceived: Multiplexed._take_request,
    DataReceived: Multiplexed._take_data,
    StreamEnded: Multiplexed._take_end,
    StreamReset: Multiplexed._take_reset,
    WindowUpdated: Multiplexed._take_room,
    TrailersReceived: Multiplexed._take_trailers,
    RemoteSettingsChanged: Multiplexed._take_settings,
    ConnectionTerminated: Multiplexed._take_farewell,
}
"""Priorities are not kept."""
