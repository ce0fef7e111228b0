"""Follows the frames of an HTTP/2 connection and counts those that cost us and bring nothing.

What the frames say is read elsewhere. Here they are only told apart, so that a
client can be cut off that lets a head trickle in, or sends pings, settings,
resets and the like without end.
"""

from .flood import CREDIT, RESET_COST, TOLD, Credit, Flood

CONTINUED = 0x4
"""The flag that ends a block of headers."""
ENDED = 0x1
"""The flag that ends a stream."""
DATA, HEADERS, RESET, SETTINGS, WINDOW_UPDATE, CONTINUATION = 0x0, 0x1, 0x3, 0x4, 0x8, 0x9
HEADER = 9
"""Bytes before what a frame holds."""
LONGEST = 16 * 1024
"""Bytes that a frame may hold: a longer one is nowhere looked at before all of it has come."""
PREFACE = 24
"""Bytes before the first frame."""
SETTING = 6
"""Bytes of one setting."""
UPDATES = 1000
"""How many window updates a client may send at first."""
UPDATES_EARNED = 4
"""How many more with each piece of an answer."""


class Frames:
    """``feed`` wants every byte of a connection, in order."""

    __slots__ = (
        "_begun",
        "_block",
        "_credit",
        "_head",
        "_is_body",
        "_left",
        "_most",
        "_told",
        "_updates",
    )

    def __init__(self, most: int, now: float) -> None:
        """``most`` are the bytes that one block of headers may have on its way."""
        self._most = most
        self._is_body = False
        """The current frame is part of a body, whose time is measured elsewhere."""
        self._left = PREFACE
        """Bytes of the current frame that are still to come."""
        self._head = b""
        """The beginning of a frame's own header."""
        self._block: int | None = None
        """The size so far of a block of headers that has not ended."""
        self._begun = now
        self._credit = Credit(now)
        self._updates, self._told = UPDATES, 0

    def feed(self, data: bytes, now: float) -> None:
        """Raises Flood. ``now`` is a time in seconds that never goes back."""
        self._credit.earn(now)
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

    def excuse(self, now: float) -> None:
        """Begin to measure anew: until now nobody listened."""
        self._begun = now

    def answered(self, frames: int = 1) -> None:
        """Pieces of an answer go out, which the client may tell that it has read."""
        self._updates = min(self._updates + UPDATES_EARNED * frames, CREDIT * UPDATES_EARNED)

    def spend(self, cost: int) -> None:
        """Something came that brings nothing. Raises Flood."""
        self._credit.spend(cost)

    def _read_header(self, data: bytes, at: int, now: float) -> int:
        """Read a frame's header, or as much of it as there is; give where it ends."""
        if not self._head and self._block is None:
            self._begun = now
        stop = at + HEADER - len(self._head)
        head = self._head + data[at:stop]
        if len(head) < HEADER:
            self._head = head
            return len(data)
        self._head, self._left = b"", int.from_bytes(head[:3], "big")
        if self._left > LONGEST:
            raise Flood("a frame is too long")
        self._look(head[3], head[4])
        return stop

    def _look(self, kind: int, flags: int) -> None:
        self._is_body = kind == DATA
        if kind in (HEADERS, CONTINUATION):
            self._measure(flags)
        elif kind == WINDOW_UPDATE:
            self._updates -= 1
            if self._updates < 0:
                raise Flood("too many window updates")
        elif kind == SETTINGS:
            self._told += self._left // SETTING
            if self._told > TOLD:
                raise Flood("too many settings")
            self.spend(1)
        elif kind != DATA or not (self._left or flags & ENDED):
            self.spend(RESET_COST if kind == RESET else 1)

    def _measure(self, flags: int) -> None:
        size = (self._block or 0) + self._left + HEADER
        if size > self._most:
            raise Flood("headers without an end")
        self._block = None if flags & CONTINUED else size
