"""Write a conversation as a request for the vendor."""

from .request import write_request

__all__ = ["write_request"]
