"""Reads a client"s request into the canonical conversation."""

from .request import read_request

__all__ = ["read_request"]
