"""Memory for the bodies of running requests, reserved while they arrive.

What the process uses is known once a second only; twenty large bodies arrive in less. So a body is
let in with all that it will take, or refused before it is read.
"""

from ..contracts.errors import Unavailable

COPIES = 2.5
"""How often a large body is held at most: as it came, as its members, and as it leaves. Measured
with bodies of 45 MiB."""


class BodyMemory:
    """What bodies may take together, and what they have reserved. Sizes in bytes."""

    def __init__(self) -> None:
        self.room: float | None = None
        """``None`` is no limit. Follows the memory that everything else uses."""
        self.reserved = 0.0

    def grow(self, held: float, size: int) -> float:
        """Reserve for a body of ``size``, for which ``held`` is reserved already; gives what is
        reserved for it now. Raises Unavailable."""
        needed = max(held, COPIES * size)
        if self.room is not None and self.reserved + needed - held > self.room:
            raise Unavailable("The gateway is short of memory; try again", retry_after=1)
        self.reserved += needed - held
        return needed

    def release(self, held: float) -> None:
        """A body is gone."""
        self.reserved -= held
