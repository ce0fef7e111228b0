"""A long body collected from its pieces, in one block of the announced length.

Pieces that are kept and joined at the end need the body's memory twice, which
the allocator has to get and give back for each request. An announced length
alone reserves nothing: a good part of the body has to have come.
"""

from functools import cache
from io import BytesIO

LARGE = 128 * 1024
"""Shorter bodies are kept in pieces and joined; the allocator unmaps longer ones once free."""
SHARE = 4
"""A place is made once one in so many bytes has come."""
MANY = 1024
"""So many short pieces in a row become one: as objects they take a multiple of what they hold."""
SHORT = 256
"""Bytes that a short piece has on average."""
BLOCK = 16 * 1024 * 1024
"""Half of the free memory that may be kept from one long body to the next."""


class BodyBuffer:
    """Collects the pieces of a body."""

    def __init__(self, announced: int) -> None:
        """``announced`` is the whole body's length, or 0 where it is unknown; it may be wrong."""
        self.size = 0
        self._announced = announced if announced >= LARGE else 0
        self._pieces: list[bytes] = []
        self._loose = 0
        """How many of the last pieces came one by one."""
        self._place: BytesIO | None = None

    def add(self, piece: bytes) -> None:
        begin = self.size
        self.size += len(piece)
        if self._place is not None and self.size <= self._announced:
            with self._place.getbuffer() as room:
                room[begin : self.size] = piece
            return
        self._pieces.append(piece)
        self._loose += 1
        if self._loose == MANY:
            loose, self._loose = self._pieces[-MANY:], 0
            if sum(map(len, loose)) < MANY * SHORT:
                self._pieces[-MANY:] = [b"".join(loose)]
        if self._place is None and 0 < self.size <= self._announced <= self.size * SHARE:
            keep_room()
            # calloc maps zeros lazily: pages that no piece reaches take no memory.
            self._place = BytesIO(bytes(self._announced))
            self._place.writelines(self._pieces)
            self._pieces.clear()
            self._loose = 0

    @property
    def expected(self) -> int:
        """How many bytes it may come to: as announced, once that can be believed."""
        return max(self.size, self._announced if self._place is not None else 0)

    def whole(self) -> bytes:
        """The body received so far. To be called once, after the last piece."""
        if self._place is None:
            return joined(self._pieces)
        # BytesIO shares its bytes instead of copying them, as long as it is not written again.
        placed, self._place = self._place.getvalue(), None
        if self.size == self._announced:
            return placed
        # The announced length was wrong: the body is shorter, or its end is in the pieces.
        held = self.size - sum(map(len, self._pieces))
        return b"".join((placed[:held], *self._pieces))


def joined(pieces: list[bytes]) -> bytes:
    """The pieces of a body behind one another."""
    if sum(map(len, pieces)) >= LARGE:
        keep_room()
    return b"".join(pieces)


@cache
def keep_room() -> None:
    """Make the allocator keep the memory of a long body for the next one."""
    # glibc's dynamic thresholds (mallopt(3)) follow the largest mapped block that was freed: free
    # memory up to twice that size stays with the process. The block's pages are never touched.
    bytes(BLOCK)
