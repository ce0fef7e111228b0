"""How values are bound: as SQLite binds them, so that both engines hold the same."""

from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

_NUL, _REPLACED = "\0", "\N{REPLACEMENT CHARACTER}"


class _FlagDumper(Int8Dumper):
    """A boolean as 0 or 1."""

    def dump(self, obj: Any) -> Buffer | None:
        return super().dump(int(obj))


class _TextDumper(StrDumperUnknown):
    """A text. PostgreSQL cannot store U+0000, and a client may write one into a model's name: the
    row of its call must not fail for that."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(storable(obj))


def storable(value: Any) -> Any:
    """A value as it comes back from the database."""
    return value.replace(_NUL, _REPLACED) if isinstance(value, str) and _NUL in value else value


ADAPTERS = AdaptersMap(psycopg.adapters)
ADAPTERS.register_dumper(bool, _FlagDumper)
ADAPTERS.register_dumper(int, Int8Dumper)
ADAPTERS.register_dumper(str, _TextDumper)
