"""One client's HTTP/2 connection: the limits of HTTP/1.1, and those of streams.

```text
bytes ──▶ FrameCounter (abuse, slow heads) ──▶ h2 (protocol, flow control) ──▶ Stream ──▶ app
                                                                          └──▶ Stream ──▶ …
```

A connection runs at most ``MAX_STREAMS`` requests, also when clients reset them: a
reset request counts until the application has returned. All connections together
run no more requests than there may be connections, and wait for few bodies at once.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
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

from ..connections import App, ConnectionManager, Message, set_receive_buffer, stopping
from ..http1.request_head import Headers, RefusedRequest, origin_form
from ..unsent import unsent_bytes
from .abuse import RESET_COST, AbuseError
from .http2_engine import MAX_STREAMS, create_engine
from .http2_frames import FrameCounter
from .interfaces import Header, ResetReason
from .request_head import RequestHead, check, max_list_size, refusing, to_http1_head
from .stream import Stream

log = logging.getLogger(__name__)

ASGI = {"version": "3.0", "spec_version": "2.3"}
CONNECTION_WINDOW = 1024 * 1024
"""How much of all bodies a client may send before applications receive it."""
NARROW, WIDE = 16 * 1024, 4 * 1024 * 1024
"""Receive buffers: until the application has asked for more of a body, and from then on; the
system's limit (net.core.rmem_max) is smaller, mostly."""
MAX_UPLOADS = 1000
"""Requests of all connections whose body has not all come; each takes some 4 KiB without a byte of
it, and nobody has shown a key yet."""
OWN_UPLOADS = 8
"""How many of them a connection may have all the same."""
MAX_TABLE = 4096
"""Bytes of the HPACK table for responses, however large a one the client allows."""
CODES = {
    ResetReason.DONE: ErrorCodes.NO_ERROR,
    ResetReason.GIVEN_UP: ErrorCodes.CANCEL,
    ResetReason.FAILED: ErrorCodes.INTERNAL_ERROR,
    ResetReason.MALFORMED: ErrorCodes.PROTOCOL_ERROR,
}

Address = tuple[str, int]


class Http2Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, app: App, manager: ConnectionManager) -> None:
        self.app, self.manager, self.limits = app, manager, manager.limits
        self.h2 = create_engine(manager.limits)
        self.frames = FrameCounter(2 * max_list_size(manager.limits), manager.now, self._is_socket)
        self.streams: dict[int, Stream] = {}
        self.transport: asyncio.Transport
        self.server: Address | None = None
        self.client: Address | None = None
        self.is_writable = True
        self.input_closed = False
        """Further input is dropped."""
        self.is_leaving = False
        """The client has sent GOAWAY: the requests that run are its last."""
        self.sent_at = manager.now
        """When the last piece of a response was sent."""
        self.uploads = 0
        """How many requests of the connection have a body that has not all come."""
        self.is_narrow = True
        """No application has asked for more of a body than its beginning."""
        self.queued = 0
        """How many streams wait for the window of the connection."""
        self.written = self.delivered = 0
        """How many bytes were sent in all, and how many of them at least are acknowledged."""
        self.progressed_at = manager.now
        """When the client was last seen to acknowledge more."""
        self.mark = manager.now
        """When the last request ended."""
        self.running: set[asyncio.Task[None]] = set()

    # The life of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if self.manager.is_full:
            self.input_closed = True
            self.transport.abort()
            return
        self.manager.connections.add(self)
        set_receive_buffer(transport.get_extra_info("socket"), NARROW)
        self.server, self.client = self._address("sockname"), self._address("peername")
        self.h2.initiate_connection()
        window = CONNECTION_WINDOW - self.h2.inbound_flow_control_window
        self.h2.increment_flow_control_window(window)
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self.input_closed:
            return
        try:
            self.frames.feed(data, self.manager.now)
            for event in self.h2.receive_data(data):
                handle = _HANDLERS.get(type(event))
                if handle is not None and not self.input_closed:
                    handle(self, event)
        except AbuseError as abuse:
            log.info("an HTTP/2 connection is closed: %s", abuse)
            self.close(ErrorCodes.ENHANCE_YOUR_CALM)
        except ProtocolError as error:
            self.close(error.error_code)
        else:
            self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self.input_closed = True
        self.manager.connections.discard(self)
        self.abandon_streams()

    def pause_writing(self) -> None:
        # A client that does not read is not read either, or responses to pings and the like
        # would pile up.
        self.is_writable = False
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.is_writable = True
        self.frames.restart_clock(self.manager.now)
        self.transport.resume_reading()
        self.wake_senders()

    # What the client sends.

    @property
    def is_busy(self) -> bool:
        """Whether no more requests are taken for now."""
        manager = self.manager
        is_full = len(manager.tasks) >= manager.limits.connections
        return is_full or len(self.running) >= MAX_STREAMS

    @property
    def is_uploading(self) -> bool:
        """Whether no more requests with bodies are taken for now."""
        return self.manager.uploads >= MAX_UPLOADS and self.uploads >= OWN_UPLOADS

    def _on_request(self, event: RequestReceived) -> None:
        number, has_body = event.stream_id, event.stream_ended is None
        if self.is_busy or (has_body and self.is_uploading):
            with suppress(StreamClosedError):  # The client may have reset it in the same read.
                # RFC 9113, section 8.7: nothing was done, so the client may try again.
                self.h2.reset_stream(number, ErrorCodes.REFUSED_STREAM)
            return
        pairs = cast(Headers, event.headers)
        self.begin(number, to_http1_head(pairs, has_body=has_body))

    def begin(self, number: int, head: RequestHead) -> None:
        """Run the application for a request whose body, if any, is still to come."""
        app = stopping if self.manager.closing else self.app
        stream = Stream(self, number, self._scope(head), self.manager.now)
        try:
            check(head, self.limits)
            if head.is_socket and not self.manager.closing:
                app = open_socket(app, stream, head)
        except RefusedRequest as refused:
            app = refusing(refused)
        self.streams[number] = stream
        task = asyncio.get_running_loop().create_task(stream.run(app))
        for tasks in (self.running, self.manager.tasks):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def _is_socket(self, number: int) -> bool:
        stream = self.streams.get(number)
        return stream is not None and stream.socket is not None

    def _on_data(self, event: DataReceived) -> None:
        stream = self.streams.get(event.stream_id)
        data, size = event.data, event.flow_controlled_length
        if size and not data:
            self.frames.spend(1)  # Nothing but padding.
        if stream is not None:
            stream.take(data, size, self.manager.now)
        else:
            self.h2.acknowledge_received_data(size, event.stream_id)

    def _on_trailers(self, event: TrailersReceived) -> None:
        """Drop them: RFC 9110, section 6.5.1. h2 does not compare the length of the body then."""
        stream = self.streams.get(event.stream_id)
        if stream is not None and stream.is_short:
            stream.reset(ResetReason.MALFORMED)
            self.frames.spend(RESET_COST)

    def _on_end(self, event: StreamEnded) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.complete()

    def _on_reset(self, event: StreamReset) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            stream.drop()
        if not event.remote_reset:  # h2 has reset it, because of a frame that is not allowed.
            self.frames.spend(RESET_COST)

    def _on_settings(self, event: RemoteSettingsChanged) -> None:
        if self.h2.encoder.header_table_size > MAX_TABLE:
            self.h2.encoder.header_table_size = MAX_TABLE
        self.wake_senders()

    def _on_window(self, event: WindowUpdated) -> None:
        self.wake_senders()

    def _on_goaway(self, event: ConnectionTerminated) -> None:
        self.is_leaving = True
        if event.error_code or not self.streams:
            self.close(ErrorCodes.NO_ERROR)

    def _address(self, name: str) -> Address | None:
        address = self.transport.get_extra_info(name)
        return tuple(address[:2]) if address else None

    def _scope(self, head: RequestHead) -> Message:
        raw, _, query = origin_form(head.target).partition(b"?")
        path = raw.decode("latin-1")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": "2",
            "server": self.server,
            "client": self.client,
            "scheme": "https",
            "method": head.method.decode("latin-1"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "headers": head.headers,
            "state": {},
        }

    # Called by the streams.

    @property
    def is_congested(self) -> bool:
        return self.h2.outbound_flow_control_window <= 0 or not self.is_writable

    @property
    def reads_input(self) -> bool:
        return self.is_writable and self.h2.inbound_flow_control_window > 0

    def room(self, number: int) -> int:
        return self.h2.local_flow_control_window(number) if self.is_writable else -1

    def send_head(self, number: int, headers: Sequence[Header]) -> None:
        self.h2.send_headers(number, headers)

    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None:
        self.h2.send_data(number, piece, end_stream=is_last)

    def reset(self, number: int, reason: ResetReason) -> None:
        self.h2.reset_stream(number, CODES[reason])

    def restore_window(self, number: int, size: int) -> None:
        self.h2.acknowledge_received_data(size, number)
        self.flush()

    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)
            self.written += len(data)

    def on_body_sent(self, number: int, frames: int = 1) -> None:
        self.frames.count_sent(frames)
        self.sent_at = self.manager.now
        # To the end of the order in which streams are woken, so that all have their turn.
        self.streams[number] = self.streams.pop(number)
        self.flush()

    def wake_senders(self) -> None:
        """There may be more room."""
        for stream in self.streams.values():
            stream.wake_sender()

    def widen(self) -> None:
        """Let more of a body come at once."""
        if self.is_narrow:
            self.is_narrow = False
            set_receive_buffer(self.transport.get_extra_info("socket"), WIDE)

    def count_uploads(self, change: int) -> None:
        self.uploads += change
        self.manager.uploads += change

    def forget(self, number: int) -> None:
        self.streams.pop(number, None)
        self.mark = self.manager.now
        manager = self.manager
        if (manager.closing or manager.is_retired or self.is_leaving) and not self.streams:
            self.close(ErrorCodes.NO_ERROR)

    # Called by the manager.

    def on_tick(self, now: float) -> None:
        waited, limits = now - self.mark, self.manager.limits
        if self.streams:
            delivered = self.written - unsent_bytes(self.transport)
            if delivered > self.delivered:
                self.delivered, self.progressed_at = delivered, now
        if self.is_writable and self.frames.is_late(now, limits.head_time):
            self.close(ErrorCodes.ENHANCE_YOUR_CALM)
        elif not self.streams and waited > limits.keep_alive:
            self.close(ErrorCodes.NO_ERROR)
        for stream in tuple(self.streams.values()):
            stream.on_tick(now, limits)

    def close_idle(self) -> None:
        if not self.streams:
            self.close(ErrorCodes.NO_ERROR)

    def start_drain(self) -> None:
        """New requests are refused from now on; the connection closes with the last response."""
        self.close_idle()
        for stream in tuple(self.streams.values()):
            if stream.socket is not None:
                stream.socket.start_drain()

    def abort(self) -> None:
        self.transport.abort()

    # The end.

    def close(self, code: ErrorCodes | int) -> None:
        """Send GOAWAY and close: RFC 9113, section 5.4.1."""
        if self.input_closed:
            return
        self.input_closed = True
        self.h2.close_connection(code)
        self.flush()
        self.abandon_streams()
        self.transport.close()

    def abandon_streams(self) -> None:
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            stream.on_client_gone()


def open_socket(app: App, stream: Stream, head: RequestHead) -> App:
    """The application of a stream that carries a WebSocket. Raises RefusedRequest."""
    # Imported only here, because most processes never serve one.
    from ..websocket.handshake import read_connect
    from ..websocket.http2 import tunnel

    return tunnel(app, read_connect(head.headers), stream)


# PRIORITY frames are ignored: RFC 9113, section 5.3.2, deprecates them.
_HANDLERS: dict[type[Event], Callable[[Http2Connection, Any], None]] = {
    RequestReceived: Http2Connection._on_request,
    DataReceived: Http2Connection._on_data,
    StreamEnded: Http2Connection._on_end,
    StreamReset: Http2Connection._on_reset,
    WindowUpdated: Http2Connection._on_window,
    TrailersReceived: Http2Connection._on_trailers,
    RemoteSettingsChanged: Http2Connection._on_settings,
    ConnectionTerminated: Http2Connection._on_goaway,
}
