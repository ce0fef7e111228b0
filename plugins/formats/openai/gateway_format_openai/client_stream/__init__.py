"""A reply's events, written as a stream for a client."""

from .chat import ChatWriter
from .completions import CompletionWriter

__all__ = ["ChatWriter", "CompletionWriter"]
