"""Reads a client's request as the canonical conversation."""

from .endpoints import ENDPOINTS
from .request import read_request

__all__ = ["ENDPOINTS", "read_request"]
