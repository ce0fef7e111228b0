"""An HTTP/2 connection as one of its streams sees it."""

from typing import Protocol

from h2.connection import H2Connection


class Line(Protocol):
    """What a stream uses of its connection."""

    h2: H2Connection
    queued: int
    """How many streams wait for room that all of them share."""

    @property
    def written(self) -> int:
        """How many bytes it has sent in all."""
        ...

    @property
    def delivered(self) -> int:
        """How many of them the client has."""
        ...

    @property
    def moved(self) -> float:
        """When the client was last seen to have more."""
        ...

    @property
    def is_writable(self) -> bool: ...

    @property
    def sent(self) -> float:
        """When it last sent a piece of any body."""
        ...

    def flush(self) -> None:
        """Send what is waiting."""

    def piece_sent(self, number: int, frames: int = 1) -> None:
        """The same after a piece of a stream's body, which took so many frames."""

    def forget(self, number: int) -> None:
        """A request and its answer are over."""
