"""The binary event stream: cutting bytes into checked frames, and writing one.

A frame is a prelude (length of all, length of the headers, a checksum of these
two), headers, a payload and a checksum of everything before it::

    | total 4 | headers 4 | crc 4 | headers … | payload … | crc 4 |

Format: https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html. No I/O.
"""

from collections.abc import Mapping
from struct import Struct as Layout
from struct import error as Misfit
from typing import NamedTuple
from zlib import crc32

LIMIT = 24 * 1024 * 1024
"""Longest frame, bytes; the format's own limit."""
_PRELUDE = Layout(">III")
_WORD = Layout(">I")
_SHORT = Layout(">H")
_OVERHEAD = _PRELUDE.size + _WORD.size
_TEXT = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; bytes (6) and text (7) say their own length."""


class _Broken(ValueError):
    """A length or a checksum that cannot be."""


class Frame(NamedTuple):
    headers: Mapping[str, str]
    payload: bytes

    @property
    def name(self) -> str:
        """The event's or the exception's type."""
        name = self.headers.get(":event-type") or self.headers.get(":exception-type")
        return name or self.headers.get(":error-code", "")

    @property
    def is_event(self) -> bool:
        return self.headers.get(":message-type", "event") == "event"


class Frames:
    """Holds the beginning of an unfinished frame between chunks."""

    __slots__ = ("_held", "_known", "is_broken")

    def __init__(self) -> None:
        self.is_broken = False
        """True from the first frame that cannot be; nothing after it is read."""
        self._held = bytearray()
        self._known: dict[bytes, Mapping[str, str]] = {}
        """Headers that were met before: a stream has a handful of them."""

    def feed(self, chunk: bytes) -> list[tuple[bytes, Frame]]:
        """Whole frames, each as it came and as it reads."""
        frames: list[tuple[bytes, Frame]] = []
        if self.is_broken:
            return frames
        self._held += chunk
        start = 0
        try:
            while length := self._length(start):
                whole = bytes(self._held[start : start + length])
                _, headers_length, _ = _PRELUDE.unpack_from(whole)
                end = len(whole) - _WORD.size
                if crc32(whole[:end]) != _WORD.unpack_from(whole, end)[0]:
                    raise _Broken("the checksum of a frame does not match")
                payload_start = _PRELUDE.size + headers_length
                encoded = whole[_PRELUDE.size : payload_start]
                # A stream repeats the same few header blocks, so each is parsed once.
                headers = self._known.get(encoded)
                if headers is None:
                    headers = self._known[encoded] = _headers(encoded)
                frames.append((whole, Frame(headers, whole[payload_start:end])))
                start += length
        except _Broken:
            self.is_broken = True
        del self._held[:start]
        return frames

    def is_empty(self) -> bool:
        return not self._held

    def _length(self, start: int) -> int:
        """The length of the frame that begins here, or 0 while it is not whole."""
        if len(self._held) - start < _PRELUDE.size:
            return 0
        total, headers, checksum = _PRELUDE.unpack_from(self._held, start)
        # The prelude's checksum is checked before its length is believed.
        if crc32(self._held[start : start + 8]) != checksum:
            raise _Broken("the checksum of a prelude does not match")
        if not _OVERHEAD + headers <= total <= LIMIT:
            raise _Broken("the lengths in a prelude do not fit")
        return total if len(self._held) - start >= total else 0


def _headers(encoded: bytes) -> dict[str, str]:
    """The headers that are text; others are passed over."""
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(encoded):
            name_end = at + 1 + encoded[at]
            name, kind, at = encoded[at + 1 : name_end], encoded[name_end], name_end + 1
            size = _SIZES.get(kind)
            if size is None:
                size, at = _SHORT.unpack_from(encoded, at)[0], at + _SHORT.size
            if kind == _TEXT:
                headers[name.decode()] = encoded[at : at + size].decode()
            at += size
    except (IndexError, Misfit, UnicodeDecodeError):
        raise _Broken("the headers of a frame cannot be read") from None
    return headers


def write_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame; every header is text."""
    encoded = b""
    for name, value in headers.items():
        key, text = name.encode(), value.encode()
        encoded += bytes((len(key),)) + key + bytes((_TEXT,)) + _SHORT.pack(len(text)) + text
    lengths = _PRELUDE.pack(_OVERHEAD + len(encoded) + len(payload), len(encoded), 0)[:8]
    body = lengths + _WORD.pack(crc32(lengths)) + encoded + payload
    return body + _WORD.pack(crc32(body))
