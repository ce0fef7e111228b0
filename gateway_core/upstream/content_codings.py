"""Content codings of bodies (RFC 9110, section 8.4): gzip, deflate, br and zstd, a piece at a time.

``br`` and ``zstd`` need a package each, which the extra ``compression`` brings; without it these
codings are unknown. Each is imported with the first body in its coding: both take 0.5 MiB.
A few bytes may stand for gigabytes, so nobody gets more at once than they ask for.
"""

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol


def _first_installed(*names: str) -> str | None:
    for name in names:
        with suppress(ModuleNotFoundError):  # of the package around it
            if find_spec(name) is not None:
                return name
    return None


BROTLI = _first_installed("brotli")
ZSTD = _first_installed("compression.zstd", "backports.zstd")
GZIP_BITS, ZLIB_BITS, RAW_BITS = 31, 15, -15
"""What zlib calls window bits: with a header of gzip, of zlib, or of neither."""
ZLIB_METHOD = 8
"""The low half of the first byte of a zlib header: RFC 1950, section 2.2."""
NEEDS_PACKAGE: Mapping[str, str] = {"br": "brotli", "zstd": "backports.zstd"}


class MalformedCoding(Exception):
    """The bytes are not what their coding says."""


class Inflater(Protocol):
    """Decompresses one stream. What it has not taken of its input it keeps for the next call."""

    malformed: type[Exception]
    """What the library raises for bytes that are not of its coding."""

    def inflate(self, data: bytes, most: int) -> bytes:
        """Take more input, give at most about so many bytes."""
        ...

    @property
    def ended(self) -> bool: ...

    @property
    def rest(self) -> bytes:
        """What came behind the end."""
        ...


class Zlib:
    """A stream of gzip, or of what HTTP calls deflate."""

    malformed: type[Exception] = zlib.error

    def __init__(self, bits: int = 0) -> None:
        self._inner = zlib.decompressobj(bits) if bits else None

    def inflate(self, data: bytes, most: int) -> bytes:
        if self._inner is None:
            if not data:
                return b""
            # RFC 9110, section 8.4.1.2: some send deflate without the header of zlib.
            has_header = data[0] & 0xF == ZLIB_METHOD
            self._inner = zlib.decompressobj(ZLIB_BITS if has_header else RAW_BITS)
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)

    @property
    def ended(self) -> bool:
        return self._inner is not None and self._inner.eof

    @property
    def rest(self) -> bytes:
        return b"" if self._inner is None else self._inner.unused_data


class Brotli:
    """RFC 7932."""

    rest = b""
    """The library refuses what comes behind the end."""

    def __init__(self) -> None:
        library: Any = import_module(str(BROTLI))
        self._inner, self.malformed = library.Decompressor(), library.error

    def inflate(self, data: bytes, most: int) -> bytes:
        plain: bytes = self._inner.process(data, output_buffer_limit=most)
        return plain

    @property
    def ended(self) -> bool:
        return bool(self._inner.is_finished())


class Zstd:
    """RFC 8878."""

    def __init__(self) -> None:
        library: Any = import_module(str(ZSTD))
        self._inner, self.malformed = library.ZstdDecompressor(), library.ZstdError

    def inflate(self, data: bytes, most: int) -> bytes:
        plain: bytes = self._inner.decompress(data, most)
        return plain

    @property
    def ended(self) -> bool:
        return bool(self._inner.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._inner.unused_data)


INFLATERS: dict[str, Callable[[], Inflater]] = {
    "gzip": lambda: Zlib(GZIP_BITS),
    "x-gzip": lambda: Zlib(GZIP_BITS),
    "deflate": Zlib,
}
if BROTLI is not None:
    INFLATERS["br"] = Brotli
if ZSTD is not None:
    INFLATERS["zstd"] = Zstd


class BodyDecoder:
    """Decodes a body that comes in pieces."""

    def __init__(self, coding: str) -> None:
        """``coding`` is one of ``INFLATERS``."""
        self._create = INFLATERS[coding]
        self._inflater = self._create()
        self._input = b""
        self._is_begun = False

    @property
    def is_whole(self) -> bool:
        """Nothing is missing: everything has been taken up to an end, or there was nothing."""
        return not self._input and (self._inflater.ended or not self._is_begun)

    def feed(self, data: bytes) -> None:
        """More of the body; only once ``take`` has given all of what came before."""
        self._input, self._is_begun = data, True

    def take(self, most: int) -> bytes:
        """The next of the decoded bytes, about ``most`` at most; none where more input is needed.

        Raises MalformedCoding.
        """
        try:
            while True:
                if self._inflater.ended:
                    # RFC 1952, section 2.2, and RFC 8878, section 3: streams may follow each other.
                    self._input = self._inflater.rest + self._input
                    if not self._input:
                        return b""
                    self._inflater = self._create()
                data, self._input = self._input, b""
                plain = self._inflater.inflate(data, most)
                if plain or not self._inflater.ended:
                    return plain
        except self._inflater.malformed as error:
            raise MalformedCoding from error
