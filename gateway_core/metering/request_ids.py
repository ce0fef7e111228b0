"""Ids for requests: random UUIDs, made from the system's randomness many at a time.

Asking the system for randomness is a call into the kernel, which costs more
than the rest of what an id needs.
"""

import os
from collections.abc import Callable

_SIZE = 16
_AT_ONCE = 256
_VERSION = bytes(0x40 | code & 0x0F for code in range(256))
_VARIANT = bytes(0x80 | code & 0x3F for code in range(256))
_LINE = len("01234567-89ab-cdef-0123-456789abcdef\n")
_DIGITS = [place for place in range(_LINE - 1) if place not in (8, 13, 18, 23)]
"""Where the digits of an id stand in its line."""


class RequestIds:
    """Gives a new version 4 UUID each time it is called."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._made: list[str] = []

    def __call__(self) -> str:
        if not self._made:
            drawn = bytearray(self._draw(_SIZE * _AT_ONCE))
            # RFC 9562 section 5.4: the version and the variant stand in bytes 6 and 8.
            drawn[6::_SIZE] = drawn[6::_SIZE].translate(_VERSION)
            drawn[8::_SIZE] = drawn[8::_SIZE].translate(_VARIANT)
            digits = drawn.hex().encode()
            lines = bytearray(b"-" * (_LINE - 1) + b"\n") * _AT_ONCE
            for number, place in enumerate(_DIGITS):
                lines[place::_LINE] = digits[number :: 2 * _SIZE]  # One digit of every id.
            self._made = lines.decode("ascii").split()
        return self._made.pop()
