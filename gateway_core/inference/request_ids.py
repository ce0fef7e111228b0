"""Ids for requests: random UUIDs, made from the system's randomness many at a time.

Asking the system for randomness is a call into the kernel, which costs more
than the rest of what an id needs.
"""

import os
import re
from collections.abc import Callable

_SIZE = 16
_AT_ONCE = 256
_VERSION = bytes(0x40 | code & 0x0F for code in range(256))
_VARIANT = bytes(0x80 | code & 0x3F for code in range(256))
_parts = re.compile("(.{8})(.{4})(.{4})(.{4})(.{12})").findall


class RequestIds:
    """Gives a new version 4 UUID each time it is called."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._made: list[str] = []

    def __call__(self) -> str:
        if not self._made:
            self._made = self._more()
        return self._made.pop()

    def _more(self) -> list[str]:
        drawn = bytearray(self._draw(_SIZE * _AT_ONCE))
        drawn[6::_SIZE] = drawn[6::_SIZE].translate(_VERSION)
        drawn[8::_SIZE] = drawn[8::_SIZE].translate(_VARIANT)
        return list(map("-".join, _parts(drawn.hex())))
