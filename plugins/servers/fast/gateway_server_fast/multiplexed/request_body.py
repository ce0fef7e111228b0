"""The body of one request: what is unread, and how long it takes."""

from ..connections import MIN_BODY_PROGRESS
from .interfaces import StreamConnection


class RequestBody:
    """Keeps what has come until it is read, and opens the client's window as it is."""

    def __init__(self, connection: StreamConnection, number: int, now: float) -> None:
        self._connection, self._number = connection, number
        self.is_complete = False
        connection.count_uploads(1)
        self.size = 0
        """How long the body is so far."""
        self.unread = 0
        """Bytes that are not yet given back to the client's window."""
        self._kept = bytearray()
        self._mark, self._recent = now, 0
        """When enough had come, and how much has come since."""

    def take(self, data: bytes, window: int, now: float) -> None:
        """More of it; ``window`` is what it takes of the client's window, padding included."""
        self.size += len(data)
        self._recent += len(data)
        if self._recent >= MIN_BODY_PROGRESS:
            self._mark, self._recent = now, 0
        self._kept += data
        self.unread += window

    def read(self) -> bytes:
        """All that has come since the last time."""
        body, self._kept = bytes(self._kept), bytearray()
        self.restore_window()
        return body

    def complete(self) -> None:
        """All of it has come, or the rest will not."""
        if not self.is_complete:
            self.is_complete = True
            self._connection.count_uploads(-1)

    def drop(self) -> None:
        """It will not be read."""
        self.complete()
        self._kept.clear()

    def restore_window(self) -> None:
        """Let the client send as much again as has come: RFC 9113, section 6.9."""
        if self.unread:
            self._connection.restore_window(self._number, self.unread)
            self.unread = 0
            self._connection.flush()

    def silent_for(self, now: float) -> float:
        """For how many seconds too little has come."""
        # With a closed window the client may not send, so it is not late.
        if self.unread or not self._connection.reads_input:
            self._mark = now
        return now - self._mark
