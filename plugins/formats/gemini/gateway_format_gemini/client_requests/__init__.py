"""Reads a client"s request into the canonical conversation."""

from .request import read_conversation

__all__ = ["read_conversation"]
