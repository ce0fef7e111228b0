"""Cuts a byte stream into the JSON values that follow one another in it.

A stream without ``alt=sse`` is one JSON list, sent in pieces; an error may stand where a stream
should be, as a lone object.
https://cloud.google.com/apis/docs/system-parameters
"""

import re

_TOKEN = re.compile(rb'["{}\\]')
_INSIDE = re.compile(rb'["\\]')
LIMIT = 16 * 1024 * 1024
"""Longest value, bytes."""


class JsonPieces:
    """Gives the objects at the top level, or directly within one list."""

    __slots__ = ("_depth", "_held", "_quoted", "_seen", "_start")

    def __init__(self) -> None:
        self._held = bytearray()
        self._seen = 0
        self._start = 0
        self._depth = 0
        self._quoted = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The objects that are whole now. Raises ValueError when one grows beyond the limit."""
        self._held += chunk
        objects: list[bytes] = []
        while token := (_INSIDE if self._quoted else _TOKEN).search(self._held, self._seen):
            at = token.start()
            self._seen = at + 1
            match token[0]:
                case b"\\":
                    if at + 1 == len(self._held):
                        self._seen = at  # The escaped character is in the next chunk.
                        break
                    self._seen = at + 2
                case b'"':
                    self._quoted = not self._quoted
                case b"{":
                    self._start = self._start if self._depth else at
                    self._depth += 1
                case b"}" if self._depth:
                    self._depth -= 1
                    if not self._depth:
                        objects.append(bytes(self._held[self._start : at + 1]))
                        self._start = at + 1
        else:
            self._seen = len(self._held)
        if self._start:
            del self._held[: self._start]
            self._seen -= self._start
            self._start = 0
        # A value without an end must not fill the memory.
        if len(self._held) > LIMIT:
            raise ValueError(f"a value is longer than {LIMIT} bytes")
        return objects

    @property
    def unfinished(self) -> bool:
        """Whether an object has begun that has not ended."""
        return self._depth > 0 or self._quoted


def split_objects(body: bytes) -> list[bytes]:
    """The objects of a whole body: itself, or those of a list. Raises ValueError."""
    return [body] if body.lstrip()[:1] == b"{" else JsonPieces().feed(body)
