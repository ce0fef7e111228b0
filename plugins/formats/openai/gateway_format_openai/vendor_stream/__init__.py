"""A vendor's stream, read into events."""

from .answer import BROKEN, EMPTY, VendorAnswer
from .reader import LONGEST_MARK, ChatReader, is_done

__all__ = ["BROKEN", "EMPTY", "LONGEST_MARK", "ChatReader", "VendorAnswer", "is_done"]
