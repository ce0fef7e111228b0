"""A part of a content in a folder, open for one answer."""

import os
from pathlib import Path

from .ranges import Span


class DiskReader:
    """Owns a descriptor. Its methods block, and are called by one thread at a time."""

    def __init__(self, path: Path, span: Span) -> None:
        """Raises FileNotFoundError, OSError."""
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._begin, self._end = span

    def read(self, most: int) -> bytes:
        """At most so many bytes; none at the end."""
        piece = os.pread(self._descriptor, min(most, self._end - self._begin), self._begin)
        self._begin += len(piece)
        return piece

    def close(self) -> None:
        os.close(self._descriptor)
