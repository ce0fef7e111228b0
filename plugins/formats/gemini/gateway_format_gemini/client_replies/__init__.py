"""Writes a whole answer for a client of this format."""

from .answer import write_whole

__all__ = ["write_whole"]
