"""QUIC and HTTP/3 by themselves, as aioquic keeps them, with what we offer to a client.

By itself aioquic lets a client send ever more, whether or not what it has sent
is read, and does not tell how much of an answer is still on its way. Both are
needed so that memory has a bound; for them names are used that aioquic keeps
for itself, which is why its version has a bound too.
"""

import logging
from collections.abc import Callable
from typing import Any

import pylsqpack
from aioquic.buffer import Buffer, encode_uint_var
from aioquic.h3.connection import (
    H3_ALPN,
    ErrorCode,
    FrameType,
    H3Connection,
    H3Stream,
    ProtocolError,
    Setting,
    encode_frame,
)
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection, QuicConnectionError
from aioquic.quic.rangeset import RangeSet
from aioquic.quic.stream import QuicStream

from .flood import TOLD
from .multiplexed import LINE_WINDOW, STREAMS, TABLE, WINDOW

# They tell of every connection and stream, and warn of what any client can do wrong at will.
for _name in ("quic", "http3"):
    logging.getLogger(_name).setLevel(logging.ERROR)

IDLE = 30.0
"""Seconds after which a client that is not heard of is gone."""
CID = 8
"""Bytes of the names that connections have on the network."""
HELD = 256 * 1024
"""How much of one answer may be on its way to a client."""
LINE_HELD = 1024 * 1024
"""The same of all answers of a connection."""
BLOCKED = 16
"""How many answers may wait for the table of headers that the client keeps."""

GAPS = 256
"""How many pieces of a stream may have come that lack what is before them: twice what is left of
a window of full packets if every other one is lost. Each new piece is compared with all of them."""


class TooMuch(ProtocolError):
    """A client sends what nobody needs to send."""

    error_code = ErrorCode.H3_EXCESSIVE_LOAD


def configuration(certificate: Any, chain: list[Any], key: Any) -> QuicConfiguration:
    """What each connection begins with; certificates and key as ``cryptography`` has them."""
    return QuicConfiguration(
        is_client=False,
        alpn_protocols=list(H3_ALPN),
        certificate=certificate,
        certificate_chain=chain,
        private_key=key,
        connection_id_length=CID,
        idle_timeout=IDLE,
        max_data=LINE_WINDOW,
        max_stream_data=WINDOW,
    )


class Quic(QuicConnection):
    """One connection. Its windows move on as what has come is read."""

    def __init__(
        self, settings: QuicConfiguration, worker: int, named: bytes, retried: bytes | None
    ) -> None:
        """``worker`` is told by the names that the client calls it by; ``named`` is the first of
        them, and ``retried`` the one it was given to show that its address is its own."""
        self._sign = bytes([worker % 256])
        self.unread: Callable[[int], int] = lambda number: 0
        """How many bytes of a stream have come and are not read."""
        self.unread_besides: Callable[[], int] = lambda: 0
        """How many have come that belong to no body, and are kept."""
        super().__init__(
            configuration=settings,
            original_destination_connection_id=named,
            retry_source_connection_id=retried,
        )
        requests = self._local_max_streams_bidi
        requests.value = requests.sent = STREAMS
        first = self._host_cids[0]
        first.cid = self._signed(first.cid)
        self.host_cid = self._local_initial_source_connection_id = first.cid

    @property
    def is_closing(self) -> bool:
        """Whether one of both sides has ended it."""
        return self._close_event is not None

    @property
    def may_hear(self) -> bool:
        """Whether the client may send anything at all."""
        return self._local_max_data.value > self._local_max_data.used

    def receive_datagram(self, data: bytes, addr: Any, now: float) -> None:
        """A client may move only when its handshake is done: until then it has shown no address
        but the one it began with, and would be believed to be wherever it says."""
        paths = self._network_paths
        if self._handshake_confirmed or not paths or paths[0].addr == addr:
            super().receive_datagram(data, addr, now)

    def held(self, number: int) -> int:
        """Bytes of a stream that were given to it, and are not with the client."""
        stream = self._streams.get(number)
        return 0 if stream is None else _held(stream)

    def held_in_all(self) -> int:
        return sum(map(_held, self._streams.values()))

    def is_unwanted(self, number: int) -> bool:
        """Whether the client has said that it does not want what is sent on a stream."""
        stream = self._streams.get(number)
        return stream is not None and stream.sender._reset_error_code is not None

    def forget_input(self, number: int) -> None:
        """Drop what has come of a stream and lacks something before it."""
        stream = self._streams.get(number)
        if stream is not None and stream.receiver.is_finished:
            stream.receiver._buffer.clear()
            stream.receiver._ranges = RangeSet()

    def _kept(self) -> int:
        """How many bytes have come on all streams and are kept."""
        gapped = sum(len(stream.receiver._buffer) for stream in self._streams.values())
        return gapped + sum(map(self.unread, self._streams)) + self.unread_besides()

    def _signed(self, cid: bytes) -> bytes:
        return self._sign + cid[1:]

    def _replenish_connection_ids(self) -> None:
        super()._replenish_connection_ids()
        for each in self._host_cids:
            if not each.was_sent:
                each.cid = self._signed(each.cid)

    def _handle_stream_frame(self, context: Any, frame_type: int, buf: Buffer) -> None:
        at = buf.tell()
        stream = self._streams.get(buf.pull_uint_var())
        buf.seek(at)
        super()._handle_stream_frame(context, frame_type, buf)
        _check_gaps(stream)

    def _handle_crypto_frame(self, context: Any, frame_type: int, buf: Buffer) -> None:
        super()._handle_crypto_frame(context, frame_type, buf)
        _check_gaps(self._crypto_streams[context.epoch])

    def _write_connection_limits(self, builder: Any, space: Any) -> None:
        limit = self._local_max_data
        most = limit.used + LINE_WINDOW
        if most - limit.value >= LINE_WINDOW // 2:
            limit.value = max(limit.value, most - self._kept())
        used, limit.used = limit.used, 0  # It would be doubled for what was used of it.
        try:
            super()._write_connection_limits(builder, space)
        finally:
            limit.used = used

    def _write_stream_limits(self, builder: Any, space: Any, stream: QuicStream) -> None:
        receiver, limit = stream.receiver, stream.max_stream_data_local
        most = receiver.starting_offset() + WINDOW
        if limit and not receiver.is_finished and most - limit >= WINDOW // 2:
            unread = self.unread(stream.stream_id or 0)
            stream.max_stream_data_local = max(limit, most - unread)
        if stream.max_stream_data_local_sent == stream.max_stream_data_local:
            return
        seen, receiver.highest_offset = receiver.highest_offset, 0  # As above.
        try:
            super()._write_stream_limits(builder, space, stream)
        finally:
            receiver.highest_offset = seen


class Http(H3Connection):
    """HTTP/3 on it. No headers of requests are remembered, so that short ones stay short."""

    def __init__(self, quic: Quic, most: int, spend: Callable[[int], None]) -> None:
        """``most`` are the bytes that the headers of a request may have; ``spend`` is told of
        what brings nothing."""
        self._most, self._spend = most, spend
        super().__init__(quic)

    @property
    def unread(self) -> int:
        """How much is kept of heads that are under way, but for one, which has to come whole."""
        return max(0, sum(len(each.buffer) for each in self._stream.values()) - 2 * self._most)

    def give_up(self, number: int) -> None:
        """Nothing more is said on a stream."""
        stream = self._stream.get(number)
        if stream is not None:
            stream.sending_ended = True
            if stream.is_ended():
                self._stream.pop(number)

    def say_farewell(self, number: int) -> None:
        """Tell the client that requests from this number on are not served."""
        farewell = encode_frame(FrameType.GOAWAY, encode_uint_var(number))
        assert self._local_control_stream_id is not None
        self._quic.send_stream_data(self._local_control_stream_id, farewell)

    def _init_connection(self) -> None:
        self._max_table_capacity = self._blocked_streams = 0
        self._decoder = pylsqpack.Decoder(0, 0)
        super()._init_connection()

    def _get_local_settings(self) -> dict[int, int]:
        settings = super()._get_local_settings()
        del settings[Setting.ENABLE_CONNECT_PROTOCOL]
        return {**settings, Setting.MAX_FIELD_SECTION_SIZE: self._most}

    def _validate_settings(self, settings: dict[int, int]) -> None:
        if len(settings) > TOLD:
            raise TooMuch("Too many settings")
        super()._validate_settings(settings)
        for name, most in (
            (Setting.QPACK_MAX_TABLE_CAPACITY, TABLE),
            (Setting.QPACK_BLOCKED_STREAMS, BLOCKED),
        ):
            settings[name] = min(most, settings.get(name, 0))

    def _check_request_or_push_frame_type(self, frame_type: int, stream: H3Stream) -> None:
        super()._check_request_or_push_frame_type(frame_type, stream)
        if frame_type != FrameType.HEADERS and not (
            frame_type == FrameType.DATA and stream.frame_size
        ):
            self._spend(1)

    def _check_control_frame_type(self, frame_type: int) -> None:
        super()._check_control_frame_type(frame_type)
        self._spend(1)

    def _receive_request_or_push_data(
        self, stream: H3Stream, data: bytes, stream_ended: bool
    ) -> list[Any]:
        found = super()._receive_request_or_push_data(stream, data, stream_ended)
        return self._bounded(stream, found)

    def _receive_stream_data_uni(
        self, stream: H3Stream, data: bytes, stream_ended: bool
    ) -> list[Any]:
        found = super()._receive_stream_data_uni(stream, data, stream_ended)
        return self._bounded(stream, found)

    def _bounded(self, stream: H3Stream, found: list[Any]) -> list[Any]:
        if len(stream.buffer) > 2 * self._most:  # Somewhat more is read, to say what is wrong.
            raise TooMuch("A frame is too long")
        return found


def _check_gaps(stream: QuicStream | None) -> None:
    if stream is not None and len(stream.receiver._ranges) > GAPS:
        raise QuicConnectionError(ErrorCode.H3_EXCESSIVE_LOAD, None, "Too many gaps")  # type: ignore[arg-type]


def _held(stream: QuicStream) -> int:
    sender = stream.sender
    if sender.is_finished or sender._reset_error_code is not None:
        return 0
    return sender._buffer_stop - sender._buffer_start
