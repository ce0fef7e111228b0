"""Where the contents of clients' files are, if a plugin keeps them outside of the gateway's disk.
What a file is called, whose it is and how large it is stays in the gateway's database."""

from typing import Protocol


class ContentWriter(Protocol):
    """A content that is being written, by one thread at a time. Once ``finish`` has returned it is
    safe; nobody reads it before."""

    def write(self, data: bytes) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None:
        """Let go of what it holds. ``FileContents.remove`` is called for the rest."""
        ...


class ContentReader(Protocol):
    """A part of a content: between one and ``most`` bytes at a time, and none at the end."""

    def read(self, most: int) -> bytes: ...

    def close(self) -> None: ...


class FileContents(Protocol):
    """Contents by their keys, which are words of letters and digits and are never used again.

    Everything here blocks, is called in several threads at once, and raises OSError, whose text
    has no secrets, after a few seconds without an answer.
    """

    def create(self, key: str) -> ContentWriter: ...

    def open(self, key: str, begin: int, end: int) -> ContentReader:
        """One byte at least, from ``begin`` up to ``end``. Raises FileNotFoundError."""
        ...

    def remove(self, key: str) -> None:
        """Remove a content, and what killed processes have left of it, if there is any."""
        ...

    def check(self) -> tuple[bool, str]:
        """Whether it can be used, and where it is or why not, for people. Never raises."""
        ...
