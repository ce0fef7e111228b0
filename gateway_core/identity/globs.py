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


def remainders(pattern: str, beginning: str) -> frozenset[str]:
    """What is left of a pattern once it has matched the beginning of a name.

    The name matches the pattern if the rest of it matches one of these.
    """
    left = {pattern.casefold()}
    for letter in beginning.casefold():
        following = set()
        for rest in left:
            while rest.startswith("*"):
                following.add(rest)
                rest = rest[1:]  # the star may also stand for nothing
            if rest.startswith(letter):
                following.add(rest[1:])
        left = following
    return frozenset(left)
