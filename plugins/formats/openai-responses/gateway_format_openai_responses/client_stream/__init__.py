"""Write a stream's events for a client."""

from .compaction import CompactionWriter
from .writer import Writer

__all__ = ["CompactionWriter", "Writer"]
