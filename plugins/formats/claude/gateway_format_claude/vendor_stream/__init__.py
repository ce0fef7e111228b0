"""Reads a vendor"s stream as the canonical events."""

from .reader import Reader

__all__ = ["Reader"]
