"""The files of the built application, found once and looked up by name.

A request names a file by a key of a table, never by a path, so nothing outside the folder can be
reached.
"""

import hashlib
import mimetypes
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

ENCODINGS = MappingProxyType({"br": ".br", "gzip": ".gz"})
"""Content codings of files that were compressed when they were built, the better one first."""
PAGE = "index.html"
HASHED = "assets/"
"""Files below it have a digest of their content in their names."""
_TYPES = {
    # What mimetypes says about these depends on the machine.
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}


class BuiltFile(Struct, frozen=True, kw_only=True):
    """One file, and what its answers say of it."""

    path: Path
    media_type: str
    digest: str
    """Of its content, in hexadecimal digits."""
    is_hashed: bool
    """Whether its name changes with its content."""
    encodings: tuple[str, ...]
    """In which codings it is there too."""

    def read(self, encoding: str | None) -> bytes:
        """The content, in one of ``encodings`` or as it is. Blocks."""
        suffix = "" if encoding is None else ENCODINGS[encoding]
        return self.path.with_name(self.path.name + suffix).read_bytes()


class BuiltFiles:
    """The files below a folder, as they are when the first one is wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def table(self) -> Mapping[str, BuiltFile]:
        """Every file by its name below the folder. Blocks at its first use."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[str, BuiltFile]]:
        compressed = tuple(ENCODINGS.values())
        for path in sorted(self._folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.name.endswith(compressed):
                continue
            name = path.relative_to(self._folder).as_posix()
            yield (
                name,
                BuiltFile(
                    path=path,
                    media_type=_media_type(path),
                    digest=hashlib.sha256(path.read_bytes()).hexdigest()[:32],
                    is_hashed=name.startswith(HASHED),
                    encodings=tuple(
                        encoding
                        for encoding, suffix in ENCODINGS.items()
                        if path.with_name(path.name + suffix).is_file()
                    ),
                ),
            )


def _media_type(path: Path) -> str:
    guess = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return guess or "application/octet-stream"
