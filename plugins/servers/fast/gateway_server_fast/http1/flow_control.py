"""The two directions of a connection, and when each of them has to wait."""

import asyncio

from ..unsent import unsent_bytes

HIGH_WATER = 64 * 1024
"""Bytes of a request that the application has not received, above which reading pauses."""


class FlowControl:
    """Whether reading is paused, and whether the client takes what is written."""

    __slots__ = (
        "_is_held",
        "_since",
        "_transport",
        "_unsent",
        "_writable",
        "read_paused",
        "write_paused",
    )

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = self.write_paused = self._is_held = False
        self._unsent, self._since = 0, 0.0
        """How many bytes are unsent, and since when it is so many."""
        self._writable: asyncio.Event | None = None
        """Created when a sender waits for a slow client."""

    def pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self.read_paused and not self._is_held:
            self.read_paused = False
            self._transport.resume_reading()

    def hold_reading(self) -> None:
        """Pause reading until ``release_reading``, whatever resumes it in between.

        An application that waits for its body resumes reading, and must not do so while
        earlier bytes are still unparsed: they would pile up.
        """
        self._is_held = True
        self.pause_reading()

    def release_reading(self) -> None:
        self._is_held = False
        self.resume_reading()

    def pause_writing(self) -> None:
        self.write_paused = True

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    def stalled_for(self, now: float) -> float:
        """For how many seconds the client has taken nothing of what is unsent.

        Measured from call to call, so it has to be called now and then.
        """
        unsent = self._transport.get_write_buffer_size()
        if unsent:
            unsent = unsent_bytes(self._transport)
        if not unsent or unsent != self._unsent:
            self._unsent, self._since = unsent, now
        return now - self._since

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        if self.write_paused:
            if self._writable is None:
                self._writable = asyncio.Event()
            await self._writable.wait()
