"""Write a conversation as a request for Converse."""

from .request import write_request

__all__ = ["write_request"]
