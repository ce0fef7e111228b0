"""Read a client's request into a conversation."""

from .request import read_compact_request, read_intake, read_request

__all__ = ["read_compact_request", "read_intake", "read_request"]
