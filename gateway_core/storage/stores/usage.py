"""The store of usage: one row for each finished call, read by page or summed up."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from ..database import Database, Row
from .key_usage import IS_MARK, MARK, additions, rebuild, spent_of
from .versions import RAISE, key_of

GROUP = "usage"
Status = Literal["ok", "error", "client_gone", "upstream_cut"]
Dimension = Literal["provider", "model", "connection", "api_key", "endpoint", "combo", "status"]
_COLUMN: Mapping[Dimension, str] = {
    "provider": "provider",
    "model": "model_sent",
    "connection": "connection_id",
    "api_key": "api_key_id",
    "endpoint": "endpoint",
    "combo": "combo_id",
    "status": "status",
}


class UsageRecord(Struct, frozen=True, gc=False, rename="camel"):
    """What one call used. Times are UTC ISO text; ``cost`` is in millionths of a dollar."""

    request_id: str
    started_at: str
    finished_at: str
    model_asked: str
    endpoint: str
    provider: str | None = None
    model_sent: str | None = None
    connection_id: str | None = None
    api_key_id: str | None = None
    client_format: str | None = None
    upstream_format: str | None = None
    stream: bool = False
    status: Status = "ok"
    http_status: int | None = None
    error_code: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    cost: int | None = None
    """``None`` when the price is not known."""
    ttft_ms: int | None = None
    """Until the first byte of the answer, milliseconds."""
    duration_ms: int = 0
    combo_id: str | None = None
    combo_name: str | None = None
    attempts: int = 1
    day: str = ""
    """The local date on which the call ended, ``YYYY-MM-DD``."""
    units: Mapping[str, float] | None = None
    """What was counted besides tokens, such as images or seconds."""
    dropped: tuple[str, ...] = ()
    """What could not be carried to the vendor."""


class Mark(Struct, frozen=True):
    """How much of a journal is in the database."""

    journal: str
    position: int


class UsageRow(UsageRecord, frozen=True, kw_only=True, rename="camel"):
    """A stored record; ids grow with time."""

    id: int


class UsageFilter(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which rows; ``None`` takes any. ``since`` is included, ``until`` is not."""

    provider: str | None = None
    model: str | None = None
    """As it was sent to the vendor."""
    connection: str | None = None
    api_key: str | None = None
    endpoint: str | None = None
    combo: str | None = None
    status: Status | None = None
    since: str | None = None
    until: str | None = None


class UsagePage(Struct, frozen=True):
    rows: tuple[UsageRow, ...]
    """Newest first."""
    total: int
    """How many there are without the limit."""


class UsageTotals(Struct, frozen=True, kw_only=True, rename="camel"):
    requests: int = 0
    failed: int = 0
    """Those whose status is not ``ok``."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0
    """Millionths of a dollar, of the requests whose cost is known."""
    unpriced: int = 0
    """Requests whose cost is not known."""
    last_at: str | None = None


EVERYTHING = UsageFilter()
_TERM: Mapping[str, str] = {
    **{dimension: f"{column} = :{dimension}" for dimension, column in _COLUMN.items()},
    "since": "finished_at >= :since",
    "until": "finished_at < :until",
}
_COLUMNS = (
    *("request_id", "started_at", "finished_at", "provider", "model_asked", "model_sent"),
    *("connection_id", "api_key_id", "endpoint", "client_format", "upstream_format", "stream"),
    *("status", "http_status", "error_code", "input_tokens", "output_tokens", "cached_tokens"),
    *("cache_write_tokens", "reasoning_tokens", "estimated", "cost", "ttft_ms", "duration_ms"),
    *("combo_id", "combo_name", "attempts", "dropped", "day", "units"),
)
"""Of the table after its ``id``, in order. The statement does without their names: a text so long
would be looked up for each row, which is dearer than the row."""
_FIELDS = UsageRecord.__struct_fields__
_INSERT = (
    f"INSERT INTO usage VALUES((SELECT CAST(value AS BIGINT)FROM meta WHERE key='{key_of(GROUP)}')"
    f"-?1,{','.join(f'?{_FIELDS.index(name) + 2}' for name in _COLUMNS)})"
)
"""The group's number was raised by as many as there are rows; the last one gets it for its id."""
_PUT_MARK = """
    INSERT INTO meta (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
_SUMMED = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_TOTALS = f"""
    count(*) AS requests,
    count(CASE WHEN status <> 'ok' THEN 1 END) AS failed,
    {", ".join(f"CAST(COALESCE(sum({name}), 0) AS BIGINT) AS {name}" for name in _SUMMED)},
    CAST(COALESCE(sum(cost), 0) AS BIGINT) AS cost,
    count(CASE WHEN cost IS NULL THEN 1 END) AS unpriced,
    max(finished_at) AS last_at
"""


class UsageStore:
    """What calls used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_many(self, records: Sequence[UsageRecord], mark: Mark | None = None) -> None:
        """Write records, and the mark behind them: all or none."""
        if not records:
            return
        count = len(records)
        rows = [_row(count - place, record) for place, record in enumerate(records, 1)]
        await self._database.write_all(
            [
                (RAISE, [{"key": key_of(GROUP), "by": count}]),
                (_INSERT, rows),
                *additions(spent_of(records)),
                *(
                    []
                    if mark is None
                    else [(_PUT_MARK, [(f"{MARK}{mark.journal}", str(mark.position))])]
                ),
            ]
        )

    async def marks(self) -> Mapping[str, int]:
        """The position of each journal's mark."""
        rows = await self._database.fetch(f"SELECT key, value FROM meta WHERE {IS_MARK}")
        return {row["key"].removeprefix(MARK): int(row["value"]) for row in rows}

    async def forget_marks(self, journals: Iterable[str]) -> None:
        """Remove the marks of journals that are gone."""
        for journal in journals:
            await self._database.execute(
                "DELETE FROM meta WHERE key = :key", key=f"{MARK}{journal}"
            )

    async def page(
        self, which: UsageFilter = EVERYTHING, *, limit: int = 50, offset: int = 0
    ) -> UsagePage:
        """Rows, newest first, and how many there are in all."""
        where, values = _where(which)
        rows = await self._database.fetch(
            f"SELECT * FROM usage{where} ORDER BY id DESC LIMIT :limit OFFSET :offset",
            **values,
            limit=limit,
            offset=offset,
        )
        counted = await self._database.fetch(
            f"SELECT count(*) AS total FROM usage{where}", **values
        )
        return UsagePage(tuple(read_row(row) for row in rows), counted[0]["total"])

    async def totals(self, which: UsageFilter = EVERYTHING) -> UsageTotals:
        where, values = _where(which)
        rows = await self._database.fetch(f"SELECT {_TOTALS} FROM usage{where}", **values)
        return UsageTotals(**rows[0])

    async def totals_by(
        self, dimension: Dimension, which: UsageFilter = EVERYTHING
    ) -> Mapping[str | None, UsageTotals]:
        """Totals for each provider, model and so on, the busiest first."""
        where, values = _where(which)
        column = _COLUMN[dimension]
        rows = await self._database.fetch(
            f"SELECT {column} AS name, {_TOTALS} FROM usage{where} "
            f"GROUP BY {column} ORDER BY requests DESC, {column}",
            **values,
        )
        return {row.pop("name"): UsageTotals(**row) for row in map(dict, rows)}

    async def delete(self, which: UsageFilter) -> int:
        """Remove rows for good; gives how many. Limits that look back see less from then on."""
        where, values = _where(which)
        deleted = await self._database.purge(f"DELETE FROM usage{where}", **values)
        async with self._database.transaction() as transaction:
            await rebuild(transaction)
        return deleted


def _row(behind: int, record: UsageRecord) -> tuple[Any, ...]:
    """A record's values as ``_INSERT`` takes them; ``behind`` it come so many others."""
    values = astuple(record)
    dropped = msgspec.json.encode(record.dropped).decode() if record.dropped else "[]"
    if record.units:
        return (behind, *values[:-2], msgspec.json.encode(record.units).decode(), dropped)
    return (behind, *values[:-1], dropped)


def read_row(row: Row) -> UsageRow:
    """A stored row as its value."""
    fields = dict(row)
    fields["stream"] = bool(row["stream"])
    fields["estimated"] = bool(row["estimated"])
    fields["units"] = msgspec.json.decode(row["units"]) if row["units"] else None
    fields["dropped"] = tuple(msgspec.json.decode(row["dropped"]))
    return UsageRow(**fields)


def _where(which: UsageFilter) -> tuple[str, Row]:
    given = {name: getattr(which, name) for name in which.__struct_fields__}
    values = {name: value for name, value in given.items() if value is not None}
    terms = " AND ".join(_TERM[name] for name in values)
    return (f" WHERE {terms}" if terms else ""), values
