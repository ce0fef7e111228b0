"""Write a conversation as a request for the vendor."""

from .compact import write_compact_request
from .request import write_form, write_request
from .tool_choice import write_choice
from .tools import write_tools

__all__ = ["write_choice", "write_compact_request", "write_form", "write_request", "write_tools"]
