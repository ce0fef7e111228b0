"""Write a conversation as a request for Cohere's chat."""

from .request import write_request

__all__ = ["write_request"]
