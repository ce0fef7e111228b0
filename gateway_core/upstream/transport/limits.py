"""How long the transport waits and how much it holds."""

from msgspec import Struct

HEAD_BYTES = 64 * 1024
"""The head of an answer, its interim heads and its trailers, in bytes."""
HEAD_FIELDS = 256
BODY_BYTES = 64 * 1024 * 1024
"""A whole answer, in bytes, unless the caller knows better."""


class TransportLimits(Struct, frozen=True, kw_only=True):
    """Times in seconds, sizes in bytes."""

    connections: int = 4096
    """Open at once to one origin; further requests queue."""
    keep_alive: float = 30.0
    """How long an idle connection is kept."""
    connect: float = 60.0
    """Look-up, connection and TLS together; also the wait for a free connection."""
    first_byte: float = 200.0
    """Until the head of an answer."""
    silence: float = 360.0
    """Between two pieces of a body."""
    whole: float = 600.0
    """Takes the place of both for an answer that is not streamed."""
    buffer: int = 256 * 1024
    """Received and not yet read, per answer; reading stops above it."""


class ConnectionCounts(Struct, frozen=True, kw_only=True):
    """Connections at this moment."""

    open: int = 0
    """Connected or being connected, idle ones included."""
    idle: int = 0
    waiting: int = 0
    """Requests that queue for a connection."""
