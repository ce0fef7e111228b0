"""A client's request, read into a conversation."""

from .chat import read_intake, read_request
from .completions import read_intake as read_completion_intake
from .completions import read_request as read_completion_request

__all__ = ["read_completion_intake", "read_completion_request", "read_intake", "read_request"]
