"""What a client may send and how long it may take: the numbers of the HTTP edge."""

from msgspec import Struct

from ..config.environment import Environment
from ..config.machine import descriptor_limit

KIB = 1024
LEAST = KIB
"""Bytes of a body that must come in the time that a body may be silent, unless it ends."""
SPARE_DESCRIPTORS = 128
"""Descriptors that are never given to clients: files, the database, vendors."""


class Limits(Struct, frozen=True, kw_only=True):
    """Sizes in bytes, times in seconds."""

    request_line: int = 8 * KIB
    head: int = 32 * KIB
    """All header lines together."""
    headers: int = 100
    header: int = 8 * KIB
    """One header line."""
    cookie: int = 16 * KIB
    """One line of cookies."""
    head_time: float = 10.0
    """From the first byte of a request to the end of its headers."""
    body_silence: float = 30.0
    """Between two pieces of a request's body."""
    keep_alive: float = 15.0
    """Between two requests, and before the first."""
    linger: float = 5.0
    """How long what a refused client still sends is read and dropped, so that it sees why."""
    connections: int = 12_000
    drain: float = 30.0
    """How long running requests may take once a stop was asked for."""
    hurry: float = 2.0
    """The same once it was asked for twice, and for the last words after the time is up."""


def limits_of(environment: Environment) -> Limits:
    """The limits that process variables ask for, within what the machine gives."""
    connections = environment.max_connections
    descriptors = descriptor_limit()
    if descriptors is not None:
        connections = max(1, min(connections, descriptors - SPARE_DESCRIPTORS))
    return Limits(
        head=environment.max_header_kb * KIB,
        head_time=environment.header_timeout_ms / 1000,
        body_silence=environment.body_timeout_ms / 1000,
        keep_alive=environment.keep_alive_timeout_ms / 1000,
        connections=connections,
        drain=environment.drain_ms / 1000,
    )
