"""Read a vendor's whole reply."""

from .compact import read_compaction
from .reply import read_reply
from .response import (
    ENDED,
    UNREADABLE,
    Answer,
    created,
    decode_answer,
    finish_of,
    has_rows,
    rows_of,
    rows_of_message,
)

__all__ = [
    "ENDED",
    "UNREADABLE",
    "Answer",
    "created",
    "decode_answer",
    "finish_of",
    "has_rows",
    "read_compaction",
    "read_reply",
    "rows_of",
    "rows_of_message",
]
