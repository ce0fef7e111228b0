"""How values are bound: as SQLite binds them, so that both engines hold the same."""

from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

from gateway_core.storage.storable import storable


class _FlagDumper(Int8Dumper):
    """A boolean as 0 or 1."""

    def dump(self, obj: Any) -> Buffer | None:
        return super().dump(int(obj))


class _TextDumper(StrDumperUnknown):
    """A text, without what PostgreSQL cannot store."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(storable(obj))


ADAPTERS = AdaptersMap(psycopg.adapters)
ADAPTERS.register_dumper(bool, _FlagDumper)
ADAPTERS.register_dumper(int, Int8Dumper)
ADAPTERS.register_dumper(str, _TextDumper)
