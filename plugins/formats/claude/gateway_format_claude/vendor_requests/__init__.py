"""Writes a conversation as a request to a vendor of this format."""

from .prefill import complete_messages
from .request import write_request

__all__ = ["complete_messages", "write_request"]
