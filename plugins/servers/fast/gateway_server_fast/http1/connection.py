"""One client's HTTP/1.1 connection: what it may send, and how long that may take.

```text
IDLE ──first byte──▶ HEAD ──▶ BODY ──▶ BUSY ──response──▶ IDLE
  │ 15 s               │ 10 s   │ 30 s without progress
  ▼                    ▼        ▼
closed                408      408, then further input is dropped
```

Time is the manager's, which advances in ticks: no timer is set for any request.

Input is parsed one head and one body at a time, and no further than there is room
in the pipeline: a parser that is given everything that was read creates thousands
of requests from one read.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import Any, cast

import httptools
import msgspec

from ..connections import MIN_BODY_PROGRESS, ConnectionManager, set_nodelay
from .chunked import ChunkedBody
from .flow_control import FlowControl
from .request_head import (
    RefusedRequest,
    SocketRequested,
    check_head,
    check_unfinished,
    to_refusal,
)
from .response_head import CommonHeaders, format_headers

IDLE, HEAD, BODY, BUSY = range(4)
_END_OF_HEAD = b"\r\n\r\n"
# RFC 9112, section 2.2: empty lines before a request line are ignored.
_skip_empty_lines = re.compile(rb"[\r\n]*").match


class ClientConnection(ABC):
    """Checks and times the input of a connection. The parser calls back into it."""

    transport: asyncio.Transport
    flow: FlowControl
    url: bytes
    headers: list[tuple[bytes, bytes]]
    common_headers: CommonHeaders

    def __init__(self, manager: ConnectionManager) -> None:
        self.manager = manager
        self.parser: Any
        self.phase = IDLE
        self.input_closed = False
        """Further input is dropped."""
        self.lingering = False
        """Our side is closed; the client may still send."""
        self.mark = manager.now
        """When the phase began, or when enough of a body had come."""
        self._recent = 0
        """Bytes of a body since then."""
        self._head_size = 0
        """Bytes of the current head so far."""
        self._piece = b""
        """The input that is being parsed."""
        self._tail = b""
        """The last three bytes of an unfinished head."""
        self._body_left = 0
        """Bytes of a body with a length that are still to come."""
        self._chunks: ChunkedBody | None = None
        self._unparsed, self._unparsed_from = b"", 0
        """Input that waits for room in the pipeline, and where it begins."""

    # What depends on the requests that are being answered.

    @abstractmethod
    def is_behind(self) -> bool:
        """Whether an earlier request is still being answered while another one comes."""

    @abstractmethod
    def is_pipeline_full(self) -> bool:
        """Whether no further request is to be parsed for now."""

    @abstractmethod
    def may_refuse(self) -> bool:
        """Whether a refusal can be written now; ends the request that it responds to."""

    @abstractmethod
    def end_after_last_request(self) -> None:
        """Nothing behind the last request is read: its response closes the connection."""

    @abstractmethod
    def open_socket(self, rest: bytes) -> None:
        """Give the connection to a WebSocket. ``rest`` came behind its handshake. Raises
        RefusedRequest."""

    # The life of the socket.

    def admit(self, transport: asyncio.BaseTransport) -> bool:
        """Join the manager's connections, unless there are too many."""
        self.transport = cast(asyncio.Transport, transport)
        if self.manager.is_full:
            self.input_closed = True
            self.transport.abort()
            return False
        set_nodelay(self.transport.get_extra_info("socket"))
        self.manager.connections.add(self)
        return True

    def deregister(self) -> None:
        self.input_closed, self._unparsed = True, b""
        self.manager.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        if self._unparsed:
            # TLS may deliver what it has decrypted already after reading was paused.
            self._unparsed, self._unparsed_from = self._unparsed[self._unparsed_from :] + data, 0
        else:
            self._parse(data, 0)

    def parse_further(self) -> None:
        """There is room in the pipeline again."""
        data, at = self._unparsed, self._unparsed_from
        if data:
            self._unparsed = b""
            self._parse(data, at)
            if not self._unparsed:
                self.flow.release_reading()

    def _parse(self, data: bytes, at: int) -> None:
        """Parse input from there on, as far as there is room in the pipeline."""
        end = len(data)
        try:
            while at < end and not self.input_closed:
                if self.phase == IDLE or self.phase == BUSY:
                    at = cast(re.Match[bytes], _skip_empty_lines(data, at)).end()
                    if at == end:
                        return
                    if self.is_pipeline_full():
                        self._unparsed, self._unparsed_from = data, at
                        self.flow.hold_reading()
                        return
                    self._head_size, self._tail = 0, b""
                stop = self._end_of_part(data, at)
                if stop <= at:  # The parser and the framing disagree: let the parser decide.
                    stop = end
                self._feed(data if stop - at == end else data[at:stop])
                at = stop
        except RefusedRequest as refused:
            self.refuse(refused)
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, SocketRequested):
                self._open_socket(data[stop:])
            else:
                self.refuse(to_refusal(error))

    def _open_socket(self, rest: bytes) -> None:
        """Hand the connection over, with what came behind the head."""
        try:
            self.open_socket(rest)
        except RefusedRequest as refused:
            self.refuse(refused)

    def _end_of_part(self, data: bytes, at: int) -> int:
        """Where the current head or body ends, or the data. Raises RefusedRequest."""
        if self.phase == BODY:
            if self._chunks is not None:
                return self._chunks.feed(data, at)
            size = min(self._body_left, len(data) - at)
            self._body_left -= size
            return at + size
        if self._tail:
            place = (self._tail + data[at : at + 3]).find(_END_OF_HEAD)
            if place >= 0:
                return at + place + len(_END_OF_HEAD) - len(self._tail)
        place = data.find(_END_OF_HEAD, at)
        return len(data) if place < 0 else place + len(_END_OF_HEAD)

    def _feed(self, piece: bytes) -> None:
        """Parse a head, a body or a part of one. Raises RefusedRequest, HttpParserError."""
        self._head_size += len(piece)
        self._piece = piece
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            # RFC 9110, section 7.8: a server may ignore an upgrade. The request is answered, but
            # what follows it may be the other protocol, and is dropped.
            self.input_closed = True
            self.end_after_last_request()
        if self.phase == HEAD:
            check_unfinished(self.url, self._head_size, self.manager.limits)
            self._tail = (self._tail + piece)[-3:]
        elif self.phase == BODY:
            self.count_body(len(piece))

    def count_body(self, size: int) -> None:
        """More of a body has come: one that trickles is as late as one that is silent."""
        self._recent += size
        if self._recent >= MIN_BODY_PROGRESS:
            self.mark, self._recent = self.manager.now, 0

    # Called by the parser, through the protocol.

    def begin_head(self) -> None:
        self.phase, self.mark = HEAD, self.manager.now

    def begin_body(self) -> None:
        """The head is complete. Raises RefusedRequest."""
        limits = self.manager.limits
        if check_head(self.parser, self.url, self.headers, self._head_size, limits):
            self._chunks = ChunkedBody()
        else:
            # The parser has checked that there is at most one, and that it is a number.
            lengths = (value for name, value in self.headers if name == b"content-length")
            self._body_left = int(next(lengths, 0))
        self.phase, self.mark, self._recent = BODY, self.manager.now, 0

    def end_request(self) -> None:
        """The request is complete."""
        self.phase, self._chunks = BUSY, None

    def end_response(self) -> None:
        """The response to the last request is out."""
        self.mark = self.manager.now
        if self.phase == BODY:
            self.close()
        elif self.phase == BUSY:
            self.phase = IDLE
            if self.manager.closing:
                self.transport.close()

    # Called by the manager.

    def on_tick(self, now: float) -> None:
        waited, limits = now - self.mark, self.manager.limits
        if self.lingering:
            if waited > limits.linger:
                self.transport.abort()
        elif self.phase == IDLE:
            if waited > limits.keep_alive:
                self.transport.close()
        elif (self.phase == HEAD and waited > limits.head_time) or (
            self.phase == BODY and waited > limits.body_silence
        ):
            # The client is not late while reading is paused, or while an earlier request is
            # being answered.
            if not self.transport.is_reading() or (self.phase == HEAD and self.is_behind()):
                self.mark = now
            else:
                self.refuse(RefusedRequest(408, "The request did not come in time"))

    def close_idle(self) -> None:
        if self.phase == IDLE and not self.lingering:
            self.transport.close()

    def start_drain(self) -> None:
        self.close_idle()

    def abort(self) -> None:
        self.transport.abort()

    # The end.

    def refuse(self, refused: RefusedRequest) -> None:
        """Respond with the reason, and drop further input."""
        self.input_closed = True
        if self.may_refuse():
            self.transport.write(format_refusal(refused, self.common_headers.lines))
            self.close()
        else:
            self.transport.abort()

    def close(self) -> None:
        """Close our side. RFC 9112, section 9.6: a client that is still sending would be reset by
        a full close, and lose the response before it is read."""
        self.input_closed = self.lingering = True
        self.mark = self.manager.now
        if not self.transport.is_closing():
            try:
                self.transport.write_eof()
            except OSError:  # The client is gone, and the loop has not reported it yet.
                self.transport.abort()
            else:
                self.transport.resume_reading()


def format_refusal(refused: RefusedRequest, common_lines: bytes) -> bytes:
    """A whole response that closes the connection."""
    body = msgspec.json.encode({"error": refused.message})
    status = HTTPStatus(refused.status)
    head = (
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
    )
    opening = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
    return opening.encode() + common_lines + format_headers(refused.headers) + head.encode() + body
