"""Reads a vendor"s whole answer."""

from .reply import read_whole

__all__ = ["read_whole"]
