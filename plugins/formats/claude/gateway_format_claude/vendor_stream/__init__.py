"""Reads a vendor's stream as the hub's events."""

from .reader import ClaudeStreamReader

__all__ = ["ClaudeStreamReader"]
