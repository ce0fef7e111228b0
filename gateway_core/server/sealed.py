"""A connection's transport over TLS, as the connections of both servers expect one to be."""

import asyncio
from collections.abc import Iterable
from typing import cast

from .door import Door, Visitor
from .outgoing import on_the_way
from .passing import Bytes, Passing

QUIET = 0.2
"""Seconds without a byte after which a client is taken to have read why it is refused."""
HIGH_WATER = 64 * 1024
"""Bytes that wait to be sent before nothing more is taken, as without TLS."""


class Sealed(Passing):
    """Passes everything on, but for what differs over TLS.

    TLS cannot close one side only: after ``write_eof`` what still comes is
    dropped, and the connection is closed as soon as nothing comes any more.
    ``close`` may be called again, and lets everything that was written go out
    first, however long that takes; nothing is heard any more.
    """

    def __init__(self, inner: asyncio.Transport, door: Door) -> None:
        super().__init__(inner)
        self._door = door
        self._is_closed = self._has_ended = False
        inner.set_write_buffer_limits(high=HIGH_WATER)

    def is_closing(self) -> bool:
        return self._is_closed or self._inner.is_closing()

    def close(self) -> None:
        if not self.is_closing():
            self._is_closed = True
            self._rest()
            self._inner.resume_reading()  # The client's word that it closes, too, is to be heard.
            self._inner.close()

    def abort(self) -> None:
        self._is_closed = True
        self._inner.abort()

    def write(self, data: Bytes) -> None:
        self._may_write()
        self._inner.write(data)

    def writelines(self, list_of_data: Iterable[Bytes]) -> None:
        self._may_write()
        self._inner.writelines(list_of_data)

    def _may_write(self) -> None:
        if self._has_ended:
            raise RuntimeError("nothing may be written after the last word")

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        self._has_ended = True
        self._rest().close_soon()

    def _rest(self) -> "Rest":
        protocol = self._inner.get_protocol()
        return protocol if isinstance(protocol, Rest) else Rest(self, protocol, self._door)


class Rest(asyncio.Protocol):
    """Takes the place of a connection that has said its last word, among the door's visitors too.

    What it is told is dropped. It waits while the client takes what was sent,
    and then a little for the client to close.
    """

    def __init__(self, transport: Sealed, before: asyncio.BaseProtocol, door: Door) -> None:
        self._transport, self._before, self._door = transport, before, door
        self._loop = asyncio.get_running_loop()
        self._heard = 0.0
        self._closing: asyncio.TimerHandle | None = None
        self._mark, self._waiting = door.now, on_the_way(transport)
        """Since when so many bytes are on their way."""
        transport.set_protocol(self)
        door.visitors.discard(cast(Visitor, before))
        door.visitors.add(self)

    def close_soon(self) -> None:
        """Close once the client has been quiet for a moment."""
        self._heard = self._loop.time()
        self._closing = self._loop.call_later(QUIET, self._close)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._door.visitors.discard(self)
        self._before.connection_lost(exc)

    def pause_writing(self) -> None:
        """Nobody has more to write."""

    def resume_writing(self) -> None:
        self._before.resume_writing()

    def _close(self) -> None:
        due = self._heard + QUIET
        if self._loop.time() < due:
            self._closing = self._loop.call_at(due, self._close)
        else:
            self._transport.close()

    # What the door wants.

    def look(self, now: float) -> None:
        waiting, limits = on_the_way(self._transport), self._door.limits
        if waiting != self._waiting:
            self._mark, self._waiting = now, waiting
        elif now - self._mark > (limits.body_silence if waiting else limits.linger):
            self._transport.abort()

    def close_idle(self) -> None:
        """It is closed already."""

    def shut(self) -> None:
        """It is closed already."""

    def abort(self) -> None:
        self._transport.abort()
