"""Reading a file with tables: each value is compared with its column before anything is written."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from gateway_core.contracts.errors import BadRequest

from .export import schema_version
from .sealed_columns import Row
from .source import Table

_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Moment = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")]
_Day = Annotated[str, Meta(pattern=r"^(\d{4}-\d\d-\d\d)?$")]
_TYPES: Mapping[str, Any] = {"BIGINT": _Integer, "DOUBLE PRECISION": float, "TEXT": str}
_JSON = frozenset(
    f"{table}.{column}"
    for table, columns in (
        ("audit", "detail"),
        ("batches", "headers metadata errors"),
        ("native_resources", "usage"),
        ("request_details", "request provider_request provider_response response"),
        ("usage", "dropped units failures notes"),
    )
    for column in columns.split()
)
"""Columns with JSON that no reader of the configuration looks at."""
_SEALED = frozenset({"api_keys.secret", "api_keys.digest", "proxy_pools.proxy_url"})
"""Columns that a file without secrets leaves empty."""
_check_json = msgspec.json.Decoder(Raw).decode


class TableBody(Struct, frozen=True, kw_only=True):
    """A table as it came; its rows are read once its columns are known."""

    columns: tuple[str, ...]
    rows: Raw


class Loaded(Struct, frozen=True):
    """The rows of one table, for all of whose columns there is a value or a default."""

    table: Table
    columns: tuple[str, ...]
    rows: Sequence[Row]


def read_tables(
    file: Mapping[str, TableBody], known: Mapping[str, Table], written_by: int
) -> dict[str, Loaded]:
    """Read the tables of a file, which a gateway with the migration ``written_by`` wrote.

    Raises BadRequest.
    """
    if written_by > schema_version():
        raise BadRequest(
            f"The file has the schema version {written_by}; this gateway knows versions up to "
            f"{schema_version()}. Update the gateway first."
        )
    for name in file:
        if name not in known:
            raise BadRequest(f'The file has an unknown table "{name[:64]}"')
    return {name: _read_table(known[name], body) for name, body in file.items()}


def _read_table(table: Table, body: TableBody) -> Loaded:
    given = set(body.columns)
    if len(given) != len(body.columns) or not given <= table.columns.keys():
        raise BadRequest(f"The table {table.name} has unknown columns, or one of them twice")
    if missing := sorted(table.columns.keys() - table.optional - given):
        raise BadRequest(f"The table {table.name} lacks the column {missing[0]}")
    types = tuple(_type_of(table, column) for column in body.columns)
    try:
        rows = msgspec.json.decode(body.rows, type=list[tuple[types]])  # type: ignore[valid-type]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"The rows of {table.name} cannot be read: {error}") from None
    read = [dict(zip(body.columns, row, strict=True)) for row in rows]
    for column in body.columns:
        if f"{table.name}.{column}" in _JSON:
            _read_json(table.name, column, read)
    return Loaded(table, body.columns, read)


def _type_of(table: Table, column: str) -> Any:
    name, kind = f"{table.name}.{column}", _TYPES[table.columns[column]]
    if kind is str:
        is_moment = column.endswith("_at") or column == "at"
        kind = _Moment if is_moment else _Day if column == "day" else str
    may_be_null = column in table.nullable or name in _SEALED
    return kind | None if may_be_null else kind


def _read_json(table: str, column: str, rows: Sequence[Row]) -> None:
    for row in rows:
        try:
            if row[column] is not None:
                _check_json(row[column])
        except (msgspec.DecodeError, RecursionError):
            raise BadRequest(f"A value of {table}.{column} is not valid JSON") from None
