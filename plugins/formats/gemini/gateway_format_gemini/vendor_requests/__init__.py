"""Writes a conversation as a request to a vendor of this format."""

from .paths import count_path, model_path
from .request import write_request

__all__ = ["count_path", "model_path", "write_request"]
