"""A connection's transport over TLS, with the half-close that HTTP/1.1 refusals rely on."""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from ..connections import ConnectionManager, ServedConnection
from ..unsent import unsent_bytes

Bytes: TypeAlias = "bytes | bytearray | memoryview[Any]"

QUIET = 0.2
"""Seconds without a byte after which a client is assumed to have read its refusal."""
HIGH_WATER = 64 * 1024
"""Unsent bytes above which writing pauses, as without TLS."""


class TlsTransport(asyncio.Transport):
    """Passes everything on to the event loop's transport, but for what differs over TLS.

    asyncio cannot close one direction of TLS alone: after ``write_eof`` further
    input is dropped, and the connection is closed as soon as no more comes.
    ``close`` may be called again, and sends everything that was written first,
    however long that takes; no more input is read.
    """

    def __init__(self, inner: asyncio.Transport, manager: ConnectionManager) -> None:
        super().__init__()
        self._inner, self._manager = inner, manager
        self._is_closed = self._has_ended = False
        inner.set_write_buffer_limits(high=HIGH_WATER)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._inner.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._inner.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._inner.get_protocol()

    def is_reading(self) -> bool:
        return self._inner.is_reading()

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._inner.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._inner.set_write_buffer_limits(high, low)

    def is_closing(self) -> bool:
        return self._is_closed or self._inner.is_closing()

    def close(self) -> None:
        if not self.is_closing():
            self._is_closed = True
            self._replace_protocol()
            # The client's close_notify must be read: RFC 8446, section 6.1.
            self._inner.resume_reading()
            self._inner.close()

    def abort(self) -> None:
        self._is_closed = True
        self._inner.abort()

    def write(self, data: Bytes) -> None:
        self._check_open()
        self._inner.write(data)

    def writelines(self, list_of_data: Iterable[Bytes]) -> None:
        self._check_open()
        self._inner.writelines(list_of_data)

    def _check_open(self) -> None:
        if self._has_ended:
            raise RuntimeError("nothing may be written after write_eof")

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        self._has_ended = True
        self._replace_protocol().close_soon()

    def _replace_protocol(self) -> "ClosingConnection":
        protocol = self._inner.get_protocol()
        if isinstance(protocol, ClosingConnection):
            return protocol
        return ClosingConnection(self, protocol, self._manager)


class ClosingConnection(asyncio.Protocol):
    """Replaces the protocol of a connection that is being closed, for the manager too.

    Input is dropped. It waits while the client reads what was sent, and then a
    little for the client to close.
    """

    def __init__(
        self, transport: TlsTransport, before: asyncio.BaseProtocol, manager: ConnectionManager
    ) -> None:
        self._transport, self._before, self._manager = transport, before, manager
        self._loop = asyncio.get_running_loop()
        self._last_input = 0.0
        self._closing: asyncio.TimerHandle | None = None
        self._mark, self._unsent = manager.now, unsent_bytes(transport)
        """Since when so many bytes are unsent."""
        transport.set_protocol(self)
        manager.connections.discard(cast(ServedConnection, before))
        manager.connections.add(self)

    def close_soon(self) -> None:
        """Close once the client has been quiet for a moment."""
        self._last_input = self._loop.time()
        self._closing = self._loop.call_later(QUIET, self._close)

    def data_received(self, data: bytes) -> None:
        self._last_input = self._loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._manager.connections.discard(self)
        self._before.connection_lost(exc)

    def pause_writing(self) -> None:
        """Nothing more is written."""

    def resume_writing(self) -> None:
        self._before.resume_writing()

    def _close(self) -> None:
        due = self._last_input + QUIET
        if self._loop.time() < due:
            self._closing = self._loop.call_at(due, self._close)
        else:
            self._transport.close()

    # Called by the manager.

    def on_tick(self, now: float) -> None:
        unsent, limits = unsent_bytes(self._transport), self._manager.limits
        if unsent != self._unsent:
            self._mark, self._unsent = now, unsent
        elif now - self._mark > (limits.body_silence if unsent else limits.linger):
            self._transport.abort()

    def close_idle(self) -> None:
        """It is closing already."""

    def start_drain(self) -> None:
        """It is closing already."""

    def abort(self) -> None:
        self._transport.abort()
