"""The limits of a server: what process variables ask for, within what the machine allows."""

from gateway_administration.machine import raise_descriptor_limit
from gateway_core.config.environment import Environment
from gateway_core.contracts.server import KIB, ServerLimits

SPARE_DESCRIPTORS = 128
"""Descriptors kept for files and the database."""
DESCRIPTORS_PER_REQUEST = 2
"""One to the client, and one to the vendor."""


def read_limits(environment: Environment) -> ServerLimits:
    """Raises this process' limit of descriptors as far as it may."""
    connections = environment.max_connections
    descriptors = raise_descriptor_limit()
    if descriptors is not None:
        free = (descriptors - SPARE_DESCRIPTORS) // DESCRIPTORS_PER_REQUEST
        connections = max(1, min(connections, free))
    return ServerLimits(
        head=environment.max_header_kb * KIB,
        head_time=environment.header_timeout_ms / 1000,
        body_silence=environment.body_timeout_ms / 1000,
        keep_alive=environment.keep_alive_timeout_ms / 1000,
        message=environment.realtime_max_frame_bytes,
        connections=connections,
        drain=environment.drain_ms / 1000,
    )
