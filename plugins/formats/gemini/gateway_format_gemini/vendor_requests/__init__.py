"""Writes a conversation as a request to a vendor of this format."""

from .request import write_body

__all__ = ["write_body"]
