"""Counts the frames of an HTTP/2 connection that cost us and bring no request.

h2 reads what the frames hold. Here only their headers are read, RFC 9113, section 4.1,
so that a client is cut off that lets a head trickle in, or sends pings, settings,
resets and the like without end.
"""

from collections.abc import Callable

from .abuse import BUDGET, MAX_SETTINGS, RESET_COST, AbuseBudget, AbuseError

END_HEADERS, END_STREAM = 0x4, 0x1
DATA, HEADERS, RESET, SETTINGS, WINDOW_UPDATE, CONTINUATION = 0x0, 0x1, 0x3, 0x4, 0x8, 0x9
HEADER = 9
"""Bytes of a frame before its payload."""
MAX_FRAME = 16 * 1024
"""Bytes of a payload. RFC 9113, section 4.2: no more unless we announce it; h2 keeps a longer
frame until all of it has come."""
SHORT = 32
"""A shorter piece of a body costs what a full one costs. Each end of a body makes up for one.
The messages of a WebSocket may be short."""
LAST_STREAM = 2**31 - 1
"""RFC 9113, section 4.1: the bit before a stream's number means nothing."""
PREFACE = 24
"""Bytes before the first frame: RFC 9113, section 3.4."""
SETTING = 6
"""Bytes of one setting."""
UPDATES = 1000
"""How many window updates a client may send at first."""
UPDATES_EARNED = 4
"""How many more with each piece of a response."""


class FrameCounter:
    """``feed`` gets every byte of a connection, in order."""

    __slots__ = (
        "_begun",
        "_block",
        "_budget",
        "_head",
        "_is_body",
        "_is_socket",
        "_left",
        "_max_block",
        "_settings",
        "_short_pieces",
        "_updates",
    )

    def __init__(self, max_block: int, now: float, is_socket: Callable[[int], bool]) -> None:
        """``max_block`` is how many bytes one block of headers may have, still compressed.

        ``is_socket`` says whether a stream, by its number, is an open WebSocket.
        """
        self._max_block, self._is_socket = max_block, is_socket
        self._is_body = False
        """The current frame is part of a body, whose time is measured elsewhere."""
        self._left = PREFACE
        """Bytes of the current frame that are still to come."""
        self._head = b""
        """The beginning of a frame's own header."""
        self._block: int | None = None
        """The size so far of a block of headers that has not ended."""
        self._begun = now
        self._budget = AbuseBudget(now)
        self._updates, self._settings, self._short_pieces = UPDATES, 0, 0

    def feed(self, data: bytes, now: float) -> None:
        """Raises AbuseError. ``now`` is a time in seconds that never goes back."""
        self._budget.refill(now)
        at, end = 0, len(data)
        while at < end:
            if not self._left:
                at = self._read_header(data, at, now)
            step = min(self._left, end - at)
            self._left -= step
            at += step

    def is_late(self, now: float, within: float) -> bool:
        """Whether a frame or a block of headers has begun and takes longer than ``within``."""
        is_begun = bool(self._head) or self._block is not None
        is_begun |= self._left > 0 and not self._is_body
        return is_begun and now - self._begun > within

    def restart_clock(self, now: float) -> None:
        """Measure from now on: until now the connection was not read."""
        self._begun = now

    def count_sent(self, frames: int = 1) -> None:
        """Pieces of a response are sent, for each of which the client may update its window."""
        self._updates = min(self._updates + UPDATES_EARNED * frames, BUDGET * UPDATES_EARNED)

    def spend(self, cost: int) -> None:
        """Count something that brings no request. Raises AbuseError."""
        self._budget.spend(cost)

    def _read_header(self, data: bytes, at: int, now: float) -> int:
        """Read a frame's header, or as much of it as there is; return where it ends."""
        if not self._head and self._block is None:
            self._begun = now
        stop = at + HEADER - len(self._head)
        head = self._head + data[at:stop]
        if len(head) < HEADER:
            self._head = head
            return len(data)
        self._head, self._left = b"", int.from_bytes(head[:3], "big")
        if self._left > MAX_FRAME:
            raise AbuseError("a frame is too long")
        self._count(head[3], head[4], int.from_bytes(head[5:], "big") & LAST_STREAM)
        return stop

    def _count(self, kind: int, flags: int, stream: int) -> None:
        self._is_body = kind == DATA
        if kind in (HEADERS, CONTINUATION):
            # A block without an end is kept whole: CVE-2024-27316 and its kin.
            size = (self._block or 0) + self._left + HEADER
            if size > self._max_block:
                raise AbuseError("headers without an end")
            self._block = None if flags & END_HEADERS else size
        elif kind == WINDOW_UPDATE:
            self._updates -= 1
            if self._updates < 0:
                raise AbuseError("too many window updates")
        elif kind == SETTINGS:
            self._settings += self._left // SETTING
            if self._settings > MAX_SETTINGS:
                raise AbuseError("too many settings")
            self.spend(1)
        elif kind != DATA or not (self._left or flags & END_STREAM):
            self.spend(RESET_COST if kind == RESET else 1)
        elif flags & END_STREAM:
            self._short_pieces = max(0, self._short_pieces - 1)
        elif self._left < SHORT and not self._is_socket(stream):
            self._short_pieces += 1
            if self._short_pieces > BUDGET:
                raise AbuseError("the pieces of a body are too short")
