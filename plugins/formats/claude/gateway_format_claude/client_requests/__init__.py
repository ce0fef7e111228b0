"""Reads a client's request as the canonical conversation."""

from .counting import count_path, estimate
from .request import read_request

__all__ = ["count_path", "estimate", "read_request"]
