"""Writes a conversation as a request to a vendor of this format."""

from .request import write_request

__all__ = ["write_request"]
