"""A file with the database's tables, which any gateway takes, whatever its engine and master key.

```text
{"format", "schemaVersion", "exportedAt", "secretsIncluded", "tables":
    {"<table>": {"columns": [name, …], "rows": [[value, …], …]}, …}}
```
"""

import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.database import Queries
from gateway_core.storage.migrate import packaged_migrations
from gateway_core.storage.moments import iso

from .sealed_columns import Secrets
from .source import AT_ONCE, DETAILS, Table, pages_of, schema

Format = Literal["model-gateway-database", "model-gateway-selection"]
WHOLE: Format = "model-gateway-database"
SELECTION: Format = "model-gateway-selection"
MOMENTARY = frozenset({"migrations", "meta", "lockouts", "tickets"})
"""What a database is for one installation, and for a moment: a ticket that was spent must not come
back with an older file."""
SUMS = frozenset({"usage_parts", "usage_sums"})
"""Made from the ledger again when they are read."""
_LARGE = {DETAILS: 20}
"""Tables of long rows, and how many are read at once."""

log = logging.getLogger(__name__)


class Head(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a file says of itself."""

    format: Format
    schema_version: int
    """The last migration of the gateway that wrote it."""
    exported_at: str
    secrets_included: bool


class TableRows(Struct, frozen=True):
    """A table in the file."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


class Export(Head, frozen=True, kw_only=True, rename="camel"):
    """The file."""

    tables: Mapping[str, TableRows]


def secrets_of(core: Collaborators) -> Secrets:
    return Secrets(core.stores.vault, core.identity.keys.mint)


def schema_version() -> int:
    return packaged_migrations("postgres")[-1].number


def head_of(core: Collaborators, form: Format, with_secrets: bool) -> Head:
    return Head(
        format=form,
        schema_version=schema_version(),
        exported_at=iso(core.clock()),
        secrets_included=with_secrets,
    )


async def portable_tables() -> Mapping[str, Table]:
    """The tables that a file may have."""
    left_out = MOMENTARY | SUMS
    return {name: table for name, table in (await schema()).items() if name not in left_out}


async def write_export(core: Collaborators, with_secrets: bool) -> AsyncGenerator[bytes, None]:
    """Yield the file in pieces; the first is empty, and comes when the database is being read.

    A file that breaks off is no valid JSON.
    """
    try:
        async with core.stores.database.reading() as view:
            yield b""
            yield msgspec.json.encode(head_of(core, WHOLE, with_secrets))[:-1] + b',"tables":{'
            comma = b""
            for table in (await portable_tables()).values():
                yield comma + msgspec.json.encode(table.name) + b":"
                async for piece in _write_table(view, table, secrets_of(core), with_secrets):
                    yield piece
                comma = b","
            yield b"}}"
    except Exception:
        log.exception("an export of the database broke off")
        raise


async def _write_table(
    view: Queries, table: Table, secrets: Secrets, with_secrets: bool
) -> AsyncGenerator[bytes, None]:
    yield b'{"columns":' + msgspec.json.encode(tuple(table.columns)) + b',"rows":['
    comma = b""
    async for page in pages_of(view, table, _LARGE.get(table.name, AT_ONCE)):
        rows = portable_rows(table, page, secrets, with_secrets)
        yield comma + b",".join(map(msgspec.json.encode, rows))
        comma = b","
    yield b"]}"


def portable_rows(
    table: Table, rows: Iterable[Mapping[str, Any]], secrets: Secrets, with_secrets: bool
) -> Iterable[tuple[Any, ...]]:
    """Rows as they are in a file."""
    change = secrets.open if with_secrets else secrets.without
    for row in rows:
        changed = change(table.name, row)
        yield tuple(changed[name] for name in table.columns)
