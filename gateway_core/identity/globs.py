"""Globs with ``*`` only, matched in linear time: no pattern can be made to take long."""

from collections.abc import Callable

Match = Callable[[str], bool]


def glob(pattern: str) -> Match:
    """A test for names; ``*`` stands for any run of characters, ``/`` too. Case is ignored."""
    first, *rest = pattern.casefold().split("*")
    if not rest:
        return lambda name: name.casefold() == first
    *middle, last = rest

    def matches(name: str) -> bool:
        name = name.casefold()
        place, end = len(first), len(name) - len(last)
        if place > end or not name.startswith(first) or not name.endswith(last):
            return False
        for piece in middle:
            position = name.find(piece, place, end)
            if position < 0:
                return False
            place = position + len(piece)
        return True

    return matches
