"""A connection with many requests at once, HTTP/2 or HTTP/3, as one of its streams sees it."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

Header = tuple[bytes, bytes]


class Why(Enum):
    """Why a stream is ended before both sides have said all."""

    DONE = "the answer is out, and no more of the request is wanted"
    GIVEN_UP = "too slow, or not wanted any more"
    FAILED = "something went wrong here"
    MALFORMED = "the request does not follow the protocol"


class Line(Protocol):
    """What a stream uses of its connection."""

    troubles: tuple[type[Exception], ...]
    """What sending raises for a stream that the client has ended."""
    usual: Sequence[Header]
    """What every answer's head has besides its own."""
    queued: int
    """How many streams wait for room that all of them share."""
    written: int
    """How many bytes it has sent in all."""
    delivered: int
    """How many of them the client has."""
    moved: float
    """When the client was last seen to have more."""
    sent: float
    """When it last sent a piece of any body."""

    @property
    def is_crowded(self) -> bool:
        """Whether room is lacking that all streams share."""
        ...

    @property
    def is_heard(self) -> bool:
        """Whether the client may send anything at all, and is listened to."""
        ...

    def room(self, number: int) -> int:
        """How many bytes of a body may be sent now; none or less where it has to wait."""
        ...

    def send_head(self, number: int, headers: Sequence[Header]) -> None: ...

    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None: ...

    def reset(self, number: int, why: Why) -> None:
        """End both directions of a stream."""

    def restore_changes(self, number: int, size: int) -> None:
        """Let the client send so many bytes more of a body."""

    def flush(self) -> None:
        """Send what is waiting."""

    def piece_sent(self, number: int, frames: int = 1) -> None:
        """The same after a piece of a stream's body, which took so many frames."""

    def forget(self, number: int) -> None:
        """A request and its answer are over."""
