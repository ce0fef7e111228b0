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

from h2.config import H2Configuration
from h2.connection import H2Connection
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
from h2.settings import SettingCodes, Settings

from .door import App, Door, Message, stopping
from .frames import Flood, Frames
from .heads import Refused, path_of
from .http2_heads import Head, check, head_of, refusing
from .limits import KIB, Limits
from .stream import Stream

log = logging.getLogger(__name__)

ASGI = {"version": "3.0", "spec_version": "2.3"}
STREAMS = 100
"""How many requests of a connection may run."""
WINDOW = 256 * KIB
"""How much of one body a client may send before it is read."""
LINE_WINDOW = 1024 * KIB
"""The same of all bodies of a connection."""
TABLE = 4096
"""How many bytes of headers are remembered to shorten answers, however many the client offers."""
ENTRY = 32
"""What HTTP/2 counts for each header besides its name and value."""


class Multiplexed(asyncio.Protocol):
    """One connection."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door
        self.h2 = _engine(door.limits)
        self.frames = Frames(2 * _list_size(door.limits), door.now)
        self.streams: dict[int, Stream] = {}
        self.is_writable = True
        self.deaf = False
        """What comes is dropped: nothing more is wanted."""
        self.sent = door.now
        """When the last piece of an answer was sent."""
        self.mark = door.now
        """When the last request ended, or this side was closed."""
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
        if stream is not None:
            stream.take(data, size, self.door.now)
        else:
            self.h2.acknowledge_received_data(size, event.stream_id)

    def _take_trailers(self, event: TrailersReceived) -> None:
        """They are dropped; but behind them the protocol does not look at the body's length."""
        stream = self.streams.get(event.stream_id)
        if stream is not None and stream.is_short:
            stream.reset(ErrorCodes.PROTOCOL_ERROR)

    def _take_end(self, event: StreamEnded) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.complete()

    def _take_reset(self, event: StreamReset) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.drop()

    def _take_settings(self, event: RemoteSettingsChanged) -> None:
        if self.h2.encoder.header_table_size > TABLE:
            self.h2.encoder.header_table_size = TABLE
        self._wake_senders()

    def _take_room(self, event: WindowUpdated) -> None:
        self._wake_senders()

    def _take_farewell(self, event: ConnectionTerminated) -> None:
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

    def piece_sent(self, stream: Stream) -> None:
        self.frames.answered()
        self.sent = self.door.now
        self.streams[stream.number] = self.streams.pop(stream.number)  # Now it is others' turn.
        self.flush()

    def forget(self, stream: Stream) -> None:
        self.streams.pop(stream.number, None)
        self.mark = self.door.now
        if self.door.closing and not self.streams:
            self.hang_up(ErrorCodes.NO_ERROR)

    def _wake_senders(self) -> None:
        for stream in self.streams.values():
            stream.wake_sender()

    # What the door wants.

    def look(self, now: float) -> None:
        waited, limits = now - self.mark, self.door.limits
        if self.deaf:
            if waited > limits.linger:
                self.transport.abort()
        elif self.is_writable and self.frames.is_late(now, limits.head_time):
            self.hang_up(ErrorCodes.ENHANCE_YOUR_CALM)
        elif not self.streams and waited > limits.keep_alive:
            self.hang_up(ErrorCodes.NO_ERROR)
        for stream in tuple(self.streams.values()):
            stream.look(now, limits)

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
        self.deaf, self.mark = True, self.door.now
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


class Engine(H2Connection):
    """The protocol by itself."""

    MAX_CLOSED_STREAMS = 10 * STREAMS
    """Of so many it is known how they ended."""


def _engine(limits: Limits) -> H2Connection:
    """Tells the client what may be asked of us."""
    engine = Engine(H2Configuration(client_side=False, header_encoding=None))
    engine.local_settings = Settings(
        client=False,
        initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS,
            SettingCodes.MAX_HEADER_LIST_SIZE: _list_size(limits),
            SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
            SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
        },
    )
    # Somewhat more is read, so that the client gets to know why it is too much.
    engine.decoder.max_header_list_size = 2 * _list_size(limits)
    return engine


def _list_size(limits: Limits) -> int:
    return limits.head + limits.request_line + ENTRY * limits.headers
