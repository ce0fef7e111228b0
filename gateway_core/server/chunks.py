"""The lines between the chunks of a body, which the parser does not show."""

import re

from .heads import Refused

EXTENSION = 256
TRAILERS = 8 * 1024
_LONGEST = 8 + EXTENSION + 2
_size = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]{0,255})?\r\n").fullmatch


class Chunks:
    """Follows a chunked body. ``feed`` wants every byte after the head, in order."""

    __slots__ = ("_ending", "_line", "_skip")

    def __init__(self) -> None:
        self._skip = 0
        """Bytes of the current chunk and its line end that are still to come."""
        self._line = b""
        self._ending: int | None = None
        """Bytes after the last chunk's line, once that has come."""

    def feed(self, data: bytes) -> None:
        """Raises Refused."""
        at, end = 0, len(data)
        while at < end and self._ending is None:
            if self._skip:
                taken = min(self._skip, end - at)
                self._skip -= taken
                at += taken
            else:
                at = self._read_line(data, at)
        if self._ending is not None:
            self._ending += end - at
            if self._ending > TRAILERS:
                raise Refused(400, "The trailers are too long")

    def _read_line(self, data: bytes, at: int) -> int:
        """Read a chunk's first line, or as much of it as there is; give where it ends."""
        found = data.find(b"\n", at, at + _LONGEST)
        stop = found + 1 if found >= 0 else min(len(data), at + _LONGEST)
        self._line += data[at:stop]
        if found < 0 and len(self._line) < _LONGEST:
            return stop
        match = _size(self._line)
        if match is None:
            raise Refused(400, "The request is malformed")
        size = int(match[1], 16)
        self._line = b""
        if size:
            self._skip = size + 2
        else:
            self._ending = 0
        return stop
