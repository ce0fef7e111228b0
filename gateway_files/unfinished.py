"""A file that is being written, wherever its content is kept; nobody sees it before it is finished.

Its methods block, so whoever writes much calls them in a thread, one at a time.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from .errors import FileTooLarge
from .record import FileRecord


class FileLimits(Struct, frozen=True, kw_only=True):
    """What an owner may have."""

    largest: int
    """Bytes of one file."""
    quota: int
    """Bytes of all of them."""
    most: int
    """Files."""


class UnfinishedFile(ABC):
    """What is known of it, and that it is finished or abandoned once."""

    def __init__(self, owner: str, filename: str, purpose: str, limits: FileLimits) -> None:
        self.owner, self.filename, self.purpose = owner, filename, purpose
        self.expires_after: int | None = None
        """Seconds, from the moment in which it is finished."""
        self.size = 0
        self.limits = limits
        self._is_open = True
        # A cancelled upload is abandoned while a thread may still be writing for it, and the number
        # of a closed descriptor is soon that of another file.
        self._using = threading.RLock()

    def describe(self, filename: str, purpose: str, expires_after: int | None = None) -> None:
        """Change what its record will be, for a form that names it behind its content."""
        self.filename, self.purpose, self.expires_after = filename, purpose, expires_after

    def write(self, data: bytes) -> None:
        """Raises FileTooLarge, QuotaExceeded, OSError, and ValueError once it is abandoned."""
        with self._open():
            size = self.size + len(data)
            if size > self.limits.largest:
                raise FileTooLarge(self.limits.largest)
            self._reserve(len(data))
            self.size = size
            self._append(data)

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes of what was written, from ``offset`` on."""

    @abstractmethod
    def finish(self) -> FileRecord:
        """Put it in its place; once this returns, it is safe. Raises QuotaExceeded, OSError, and
        leaves nothing behind then."""

    def abandon(self) -> None:
        """Leave nothing behind. Does nothing once it is finished or abandoned."""
        with self._using:
            if self._is_open:
                self._is_open = False
                self._discard()

    close = abandon
    """As the file of a form."""

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Nobody else uses it meanwhile. Raises ValueError once it is finished or abandoned."""
        with self._using:
            if not self._is_open:
                raise ValueError("the file is finished or abandoned")
            yield

    @abstractmethod
    def _reserve(self, size: int) -> None:
        """Count so many bytes against the owner's quota. Raises QuotaExceeded."""

    @abstractmethod
    def _append(self, data: bytes) -> None:
        """Raises OSError."""

    @abstractmethod
    def _discard(self) -> None:
        """Leave nothing behind."""
