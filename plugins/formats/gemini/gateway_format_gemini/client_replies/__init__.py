"""Writes a reply of any vendor for a client of this format."""

from .answer import Answer, write_reply

__all__ = ["Answer", "write_reply"]
