"""Ids for requests: random UUIDs, drawn from the system many at a time.

Asking the system for randomness is a call into the kernel, which costs more
than the rest of what an id needs.
"""

import os
from collections.abc import Callable

_SIZE = 16
_AT_ONCE = 256


class RequestIds:
    """Gives a new version 4 UUID each time it is called."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._drawn = b""
        self._used = 0

    def __call__(self) -> str:
        if self._used == len(self._drawn):
            self._drawn, self._used = self._draw(_SIZE * _AT_ONCE), 0
        text = self._drawn[self._used : self._used + _SIZE].hex()
        self._used += _SIZE
        variant = "89ab"[int(text[16], 16) & 3]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"
