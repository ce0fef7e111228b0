"""Read a client's request into a conversation."""

from .intake import read_intake
from .request import read_request

__all__ = ["read_intake", "read_request"]
