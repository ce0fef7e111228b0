"""A conversation, written as a vendor's request."""

from .body import write_request
from .switches import limit_name

__all__ = ["limit_name", "write_request"]
