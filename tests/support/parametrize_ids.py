"""Ids for parametrised tests that are the same in every process."""

import re

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
LONGEST = 80


def parametrize_id(value: object) -> str:
    """The value's text without memory addresses, at most 80 characters long."""
    return _ADDRESS.sub("", str(value))[:LONGEST]
