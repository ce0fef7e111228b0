"""Texts as PostgreSQL stores them.

It cannot store U+0000, and a client may write one into a model's name: the row of its call must
not fail for that.
"""

from typing import Any

_NUL, _REPLACED = "\0", "\N{REPLACEMENT CHARACTER}"


def storable(value: Any) -> Any:
    """A value as it comes back from the database."""
    return value.replace(_NUL, _REPLACED) if isinstance(value, str) and _NUL in value else value
