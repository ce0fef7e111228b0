"""The body of one request over HTTP/2 or HTTP/3: what is unread, and how long it takes."""

from .limits import LEAST
from .line import Line


class Incoming:
    """Keeps what has come until it is read, and lets the client send on as it is."""

    def __init__(self, line: Line, number: int, now: float) -> None:
        self._line, self._number = line, number
        self.is_whole = False
        self.size = 0
        """How long the body is so far."""
        self.unread = 0
        """Bytes that were not yet given back to the client's window."""
        self._kept = bytearray()
        self._mark, self._recent = now, 0
        """Since when so little has come."""

    def take(self, data: bytes, room: int, now: float) -> None:
        """More of it; ``room`` is what it takes of the client's window."""
        self.size += len(data)
        self._recent += len(data)
        if self._recent >= LEAST:
            self._mark, self._recent = now, 0
        self._kept += data
        self.unread += room

    def read(self) -> bytes:
        """All that has come since the last time."""
        body, self._kept = bytes(self._kept), bytearray()
        self.restore_changes()
        return body

    def drop(self) -> None:
        """Nobody will read it."""
        self._kept.clear()

    def restore_changes(self) -> None:
        """Let the client send as much again as has come."""
        if self.unread:
            self._line.restore_changes(self._number, self.unread)
            self.unread = 0
            self._line.flush()

    def silence(self, now: float) -> float:
        """For how many seconds too little has come."""
        if self.unread or not self._line.is_heard:
            self._mark = now  # It is us who do not listen.
        return now - self._mark
