"""Write a whole reply for a client."""

from .compaction import write_compacted_reply, write_compaction
from .reply import write_reply

__all__ = ["write_compacted_reply", "write_compaction", "write_reply"]
