"""A file for the long parts of a request's body, which has no name and so leaves nothing behind."""

import os
import tempfile
from pathlib import Path

MODE = 0o700
FOLDER = "tmp"
"""Below the data directory."""


class TemporaryFile:
    """Written to its end, then read in any order. It is gone once it is closed, or its process."""

    def __init__(self, data_dir: Path) -> None:
        """Raises OSError."""
        folder = data_dir / FOLDER
        folder.mkdir(mode=MODE, exist_ok=True)
        # Removed from its folder as soon as it is open (O_TMPFILE where there is one).
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115  # see close
        self.size = 0

    def write(self, data: bytes) -> None:
        """Raises OSError, as for a full disk."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.size += len(data)

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes from ``offset`` on. Raises OSError, ValueError once closed."""
        return os.pread(self._file.fileno(), length, offset)

    def close(self) -> None:
        self._file.close()
