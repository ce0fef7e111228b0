"""Follows the framing of a chunked body, which the parser does not show: RFC 9112, section 7.1.

The parser puts no limit on chunk extensions and trailers, and does not tell where a
body ends.
"""

import re

from .request_head import RefusedRequest

EXTENSION = 256
TRAILERS = 8 * 1024
FREE_CHUNKS = 4096
"""How many chunks a body may have, however short they are."""
SHORTEST = 16
"""Bytes that the chunks of a longer body have on average. Each of them costs a turn of the parser
and of this module, so one byte in each would cost a hundred times what it costs in a long chunk."""
_LONGEST = 8 + EXTENSION + 2
_END_OF_SECTION = b"\r\n\r\n"
_size = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]{0,255})?\r\n").fullmatch


class ChunkedBody:
    """Where a body's chunks and the body itself end. ``feed`` gets every byte after the head."""

    __slots__ = ("_chunks", "_line", "_size", "_skip", "_trailers")

    def __init__(self) -> None:
        self._skip = 0
        """Bytes of the current chunk and its line end that are still to come."""
        self._line = b""
        self._chunks = self._size = 0
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
            self._chunks += 1
            self._size += size
            if self._chunks > FREE_CHUNKS and self._size < self._chunks * SHORTEST:
                raise RefusedRequest(400, "The chunks of the body are too short")
        else:
            # With the line end of the last chunk, so that an empty section ends like any other.
            self._trailers = b"\r\n"
        return stop
