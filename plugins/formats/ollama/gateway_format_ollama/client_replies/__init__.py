"""Write a whole reply for a client."""

from .reply import ending, note_part, write_load, write_reply
from .tool_calls import call_row, is_signed

__all__ = ["call_row", "ending", "is_signed", "note_part", "write_load", "write_reply"]
