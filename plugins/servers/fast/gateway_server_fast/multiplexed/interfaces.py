"""A connection with many requests at once, as one of its streams sees it."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from gateway_core import ServerLimits

Header = tuple[bytes, bytes]


class ResetReason(Enum):
    """Why a stream is ended before both sides have sent everything."""

    DONE = "the response is complete, and the rest of the request is not needed"
    GIVEN_UP = "too slow, or not wanted any more"
    FAILED = "the response failed"
    MALFORMED = "the request does not follow the protocol"


class Tunnelled(Protocol):
    """A WebSocket that a stream carries."""

    def on_tick(self, now: float) -> None:
        """Close it if it has taken too long."""

    def start_drain(self) -> None:
        """Close it because a stop is requested."""


class StreamConnection(Protocol):
    """What a stream uses of its connection."""

    limits: ServerLimits
    queued: int
    """How many streams wait for the window of the connection."""
    written: int
    """How many bytes it has sent in all."""
    delivered: int
    """How many of them the client has acknowledged."""
    progressed_at: float
    """When the client was last seen to acknowledge more."""
    sent_at: float
    """When it last sent a piece of any body."""

    @property
    def is_congested(self) -> bool:
        """Whether the window of the connection, or the socket, is full."""
        ...

    @property
    def reads_input(self) -> bool:
        """Whether the client may send bodies, and is being read."""
        ...

    def room(self, number: int) -> int:
        """How many bytes of a body may be sent now; none or less where it has to wait."""
        ...

    def send_head(self, number: int, headers: Sequence[Header]) -> None: ...

    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None: ...

    def reset(self, number: int, reason: ResetReason) -> None:
        """End both directions of a stream."""

    def restore_window(self, number: int, size: int) -> None:
        """Let the client send so many more bytes of a body."""

    def flush(self) -> None:
        """Write the frames that are waiting."""

    def on_body_sent(self, number: int, frames: int = 1) -> None:
        """A piece of a stream's body, in so many frames, waits to be written."""

    def widen(self) -> None:
        """Let more of a body come at once: an application has asked for it."""

    def count_uploads(self, change: int) -> None:
        """More or fewer requests have a body that has not all come."""

    def forget(self, number: int) -> None:
        """A request and its response are over."""
