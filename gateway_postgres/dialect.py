"""The stores' SQL as PostgreSQL takes it: parameters by number, texts ordered by their bytes."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from gateway_core.storage.database import Values

_TOKEN = re.compile(
    r"""
    '(?:[^']|'')*' | "[^"]*" | --[^\n]* | ::   # where a colon or a question mark means nothing
    | :(?P<name>[A-Za-z_]\w*) | \?(?P<number>\d*)
    """,
    re.VERBOSE,
)
_DEFINES_COLUMNS = re.compile(r"(?:\s*--[^\n]*\n)*\s*(?:CREATE|ALTER)\s+TABLE\b", re.IGNORECASE)
_TEXT = re.compile(r"\bTEXT\b")
_BY_BYTES = 'TEXT COLLATE "C"'
"""SQLite compares texts by their bytes; a cluster's own collation may order ``~`` before ``2``."""


class Statement(Struct, frozen=True):
    """A statement with parameters ``$1``, ``$2``, …, and which value each of them is."""

    sql: str
    names: tuple[str | int, ...]
    """Names of values, or places in a tuple of them."""

    def pick(self, values: Values) -> list[Any]:
        """The parameters in order. Raises KeyError, IndexError for a value that is missing."""
        if isinstance(values, Mapping):
            return [values[str(name)] for name in self.names]
        return [values[int(place)] for place in self.names]


@lru_cache(maxsize=1024)
def translate(sql: str) -> Statement:
    """Translate a statement with ``:name``, ``?`` or ``?1`` parameters."""
    names: list[str | int] = []

    def number(match: re.Match[str]) -> str:
        if match["name"] is None and match["number"] is None:
            return match[0]
        name: str | int = match["name"] or int(match["number"] or len(names) + 1) - 1
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    text = _TOKEN.sub(number, sql)
    if _DEFINES_COLUMNS.match(text):
        text = _TEXT.sub(_BY_BYTES, text)
    return Statement(text, tuple(names))
