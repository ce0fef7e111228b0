"""The two directions of a connection, and when each of them has to wait."""

import asyncio

from .outgoing import on_the_way

HIGH_WATER = 64 * 1024
"""Bytes of a request that nobody has taken, above which no more is read."""


class Flow:
    """Whether the client is listened to, and whether it takes what is written."""

    __slots__ = ("_since", "_transport", "_waiting", "_writable", "read_paused", "write_paused")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._waiting, self._since = 0, 0.0
        """How many bytes wait to be sent, and since when it is so many."""
        self._writable: asyncio.Event | None = None
        """Made when somebody waits for a client that is slow."""

    def pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        self.write_paused = True

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    def silence(self, now: float) -> float:
        """For how many seconds the client has taken nothing of what it is sent.

        It is seen from call to call, so there must be some of them.
        """
        waiting = self._transport.get_write_buffer_size()
        if waiting:
            waiting = on_the_way(self._transport)
        if not waiting or waiting != self._waiting:
            self._waiting, self._since = waiting, now
        return now - self._since

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        if self.write_paused:
            if self._writable is None:
                self._writable = asyncio.Event()
            await self._writable.wait()
