"""A long body put together from its pieces, in one place that is as large as was announced.

Pieces that are kept until they can be joined are there twice in the end, and
what is there once more is memory that the system has to give and take back
for each request. Nobody gets a place for what is only announced: a good part
of the body has to have come.
"""

from functools import cache
from io import BytesIO

LARGE = 512 * 1024
"""Shorter bodies are kept in pieces and joined."""
SHARE = 4
"""A place is made once one in so many bytes has come."""

BLOCK = 16 * 1024 * 1024
"""Half of the free memory that may be kept from one long body to the next."""


class BodyBuffer:
    """Takes pieces, and gives them as one."""

    def __init__(self, announced: int) -> None:
        """``announced`` is the whole body's length, or 0 where that is not known; it need not
        be true."""
        self.size = 0
        self._announced = announced if announced >= LARGE else 0
        self._pieces: list[bytes] = []
        self._place: BytesIO | None = None

    def add(self, piece: bytes) -> None:
        begin = self.size
        self.size += len(piece)
        if self._place is not None and self.size <= self._announced:
            with self._place.getbuffer() as room:
                room[begin : self.size] = piece
            return
        self._pieces.append(piece)
        if self._place is None and 0 < self.size <= self._announced <= self.size * SHARE:
            self._settle()

    def whole(self) -> bytes:
        """All that came."""
        if self._place is None:
            if self.size >= LARGE:
                keep_room()
            return b"".join(self._pieces)
        placed, self._place = self._place.getvalue(), None  # No copy: the place is given away.
        if self.size == self._announced:
            return placed
        held = self.size - sum(map(len, self._pieces))
        return b"".join((placed[:held], *self._pieces))

    def _settle(self) -> None:
        """Make the place, and put there what has come."""
        pieces, self._pieces, self.size = self._pieces, [], 0
        keep_room()
        # Zeros that nobody has looked at take no memory yet.
        self._place = BytesIO(bytes(self._announced))
        for piece in pieces:
            self.add(piece)


@cache
def keep_room() -> None:
    """Have the system's allocator keep the room of a long body for the next one.

    GNU's gives free memory back as soon as there is twice as much of it as the
    largest block that was ever given back, so it is shown a larger one, of
    which nothing is touched.
    """
    bytes(BLOCK)
