"""Follows the framing of a chunked body, which the parser does not show: RFC 9112, section 7.1.

The parser puts no limit on chunk extensions and trailers, and does not tell where a
body ends.
"""

import re

from .request_head import RefusedRequest

EXTENSION = 256
TRAILERS = 8 * 1024
_LONGEST = 8 + EXTENSION + 2
_END_OF_SECTION = b"\r\n\r\n"
_size = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]{0,255})?\r\n").fullmatch


class ChunkedBody:
    """Where a body's chunks and the body itself end. ``feed`` gets every byte after the head."""

    __slots__ = ("_line", "_skip", "_trailers")

    def __init__(self) -> None:
        self._skip = 0
        """Bytes of the current chunk and its line end that are still to come."""
        self._line = b""
        self._trailers: bytes | None = None
        """What follows the line of the last chunk, once that has come."""

    def feed(self, data: bytes, at: int = 0) -> int:
        """Return where the body ends in ``data``, or its length. Raises RefusedRequest."""
        end = len(data)
        while at < end and self._trailers is None:
            if self._skip:
                step = min(self._skip, end - at)
                self._skip -= step
                at += step
            else:
                at = self._read_line(data, at)
        if self._trailers is None:
            return at
        before = self._trailers
        self._trailers = section = before + data[at : at + TRAILERS + len(_END_OF_SECTION)]
        end_of_section = section.find(_END_OF_SECTION)
        if end_of_section < 0:
            if len(section) > TRAILERS:
                raise RefusedRequest(400, "The trailers are too long")
            return end
        return at + end_of_section + len(_END_OF_SECTION) - len(before)

    def _read_line(self, data: bytes, at: int) -> int:
        """Read a chunk's first line, or as much of it as there is; return where it ends."""
        line_end = data.find(b"\n", at, at + _LONGEST)
        stop = line_end + 1 if line_end >= 0 else min(len(data), at + _LONGEST)
        self._line += data[at:stop]
        if line_end < 0 and len(self._line) < _LONGEST:
            return stop
        match = _size(self._line)
        if match is None:
            raise RefusedRequest(400, "The request is malformed")
        size = int(match[1], 16)
        self._line = b""
        if size:
            self._skip = size + 2
        else:
            # With the line end of the last chunk, so that an empty section ends like any other.
            self._trailers = b"\r\n"
        return stop
