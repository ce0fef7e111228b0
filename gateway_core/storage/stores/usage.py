"""The store of usage: one row for each finished call."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, astuple

from ..database import Database, Row
from ..storable import storable
from .key_usage import IS_MARK, MARK, additions, rebuild, spent_of
from .versions import RAISE, key_of

GROUP = "usage"
Status = Literal["ok", "error", "client_gone", "upstream_cut"]


class FailedAttempt(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """An attempt that gave no answer, so that another one followed."""

    provider: str
    model: str
    ended_ms: int
    """Since the request came. The next attempt began then, if it had not to wait."""
    status: int
    connection_id: str | None = None
    code: str | None = None
    error: str | None = None
    """What the vendor said, without secrets."""


class UsageRecord(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
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
    error: str | None = None
    """What the client was answered when the call failed, without secrets."""
    dropped: tuple[str, ...] = ()
    """What could not be carried to the vendor."""
    failures: tuple[FailedAttempt, ...] = ()
    """In order; of a call with one attempt there is none."""
    notes: tuple[str, ...] = ()
    """What plugins noted about it."""


class Mark(Struct, frozen=True):
    """How much of a journal is in the database."""

    journal: str
    position: int


class UsageRow(UsageRecord, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """A stored record; ids grow with time."""

    id: int


class UsageFilter(Struct, frozen=True, kw_only=True):
    """Which rows to delete, by when they ended; ``None`` is no bound. ``until`` is not included."""

    since: str | None = None
    until: str | None = None


_BOUNDS: Mapping[str, str] = {"since": "finished_at >= :since", "until": "finished_at < :until"}


class UsagePage(Struct, frozen=True):
    rows: tuple[UsageRow, ...]
    """Newest first."""
    total: int
    """How many there are without the limit."""


_COLUMNS = (
    *("request_id", "started_at", "finished_at", "provider", "model_asked", "model_sent"),
    *("connection_id", "api_key_id", "endpoint", "client_format", "upstream_format", "stream"),
    *("status", "http_status", "error_code", "input_tokens", "output_tokens", "cached_tokens"),
    *("cache_write_tokens", "reasoning_tokens", "estimated", "cost", "ttft_ms", "duration_ms"),
    *("combo_id", "combo_name", "attempts", "dropped", "day", "units", "error"),
    *("failures", "notes"),
)
"""Of the table after its ``id``, in order. The statement does without their names: a text so long
would be looked up for each row, which is dearer than the row."""
_FIELDS = UsageRecord.__struct_fields__
_JsonRow: Any = msgspec.defstruct(
    "_JsonRow", [(name, Any, None) for name in ("id", *_FIELDS)], omit_defaults=True, gc=False
)
_read_failures = msgspec.json.Decoder(tuple[FailedAttempt, ...]).decode
_INSERT = (
    f"INSERT INTO usage VALUES((SELECT CAST(value AS BIGINT)FROM meta WHERE key='{key_of(GROUP)}')"
    f"-?1,{','.join(f'?{_FIELDS.index(name) + 2}' for name in _COLUMNS)})"
)
"""The group's number was raised by as many as there are rows; the last one gets it for its id."""
_INSERT_ALL = (
    "INSERT INTO usage SELECT (SELECT CAST(value AS BIGINT) FROM meta "
    f"WHERE key = '{key_of(GROUP)}') - r.id, {', '.join(f'r.{name}' for name in _COLUMNS)} "
    "FROM json_populate_recordset(NULL::usage, CAST(? AS json)) AS r"
)
"""The same in one statement: PostgreSQL is sent and answers each statement by itself, which costs
this process four times what the rows do as JSON."""
_PUT_MARK = """
    INSERT INTO meta (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
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
        # A cutover meanwhile makes this fail, and who writes tries again.
        is_postgres = self._database.engine == "postgres"
        await self._database.write_all(
            [
                (RAISE, [{"key": key_of(GROUP), "by": count}]),
                (_INSERT_ALL, [(_as_json(rows),)]) if is_postgres else (_INSERT, rows),
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

    async def forget_mark(self, journal: str) -> None:
        """Remove the mark of a journal whose files are gone.

        Only who removed them can say so: other gateways have journals elsewhere.
        """
        await self._database.execute("DELETE FROM meta WHERE key = :key", key=f"{MARK}{journal}")

    async def page(self, *, limit: int = 50, offset: int = 0) -> UsagePage:
        """Rows, the last written first, and how many there are in all."""
        rows = await self._database.fetch(
            "SELECT * FROM usage ORDER BY id DESC LIMIT :limit OFFSET :offset",
            limit=limit,
            offset=offset,
        )
        counted = await self._database.fetch("SELECT count(*) AS total FROM usage")
        return UsagePage(tuple(read_row(row) for row in rows), counted[0]["total"])

    async def has(self, request_id: str, since: str) -> bool:
        """Whether there is a row of a request that ended at that moment or later."""
        rows = await self._database.fetch(
            "SELECT 1 FROM usage WHERE finished_at >= :since AND request_id = :id LIMIT 1",
            since=since,
            id=request_id,
        )
        return bool(rows)

    async def delete(self, which: UsageFilter) -> int:
        """Remove rows for good; gives how many. Limits that look back see less from then on."""
        bounds = {name: value for name, value in asdict(which).items() if value is not None}
        terms = " AND ".join(_BOUNDS[name] for name in bounds)
        where = f" WHERE {terms}" if terms else ""
        deleted = await self._database.purge(f"DELETE FROM usage{where}", **bounds)
        async with self._database.transaction() as transaction:
            await rebuild(transaction)
        return deleted


def _row(behind: int, record: UsageRecord) -> tuple[Any, ...]:
    """A record's values as ``_INSERT`` takes them; ``behind`` it come so many others."""
    values = astuple(record)
    dropped = msgspec.json.encode(record.dropped).decode() if record.dropped else "[]"
    failures = msgspec.json.encode(record.failures).decode() if record.failures else None
    notes = msgspec.json.encode(record.notes).decode() if record.notes else None
    units = msgspec.json.encode(record.units).decode() if record.units else None
    return (behind, *values[:-5], units, record.error, dropped, failures, notes)


def _as_json(rows: Sequence[tuple[Any, ...]]) -> str:
    """Rows as ``_INSERT_ALL`` takes them, with what PostgreSQL cannot store replaced."""
    values = [_JsonRow(*row) for row in rows]
    for each in values:
        each.stream, each.estimated = int(each.stream), int(each.estimated)
    text = msgspec.json.encode(values).decode()
    if "\\u0000" in text:
        values = [_JsonRow(*map(storable, astuple(each))) for each in values]
        text = msgspec.json.encode(values).decode()
    return text


def read_row(row: Row) -> UsageRow:
    """A stored row as its value."""
    fields = dict(row)
    fields["stream"] = bool(row["stream"])
    fields["estimated"] = bool(row["estimated"])
    fields["units"] = msgspec.json.decode(row["units"]) if row["units"] else None
    fields["dropped"] = tuple(msgspec.json.decode(row["dropped"]))
    fields["failures"] = _read_failures(row["failures"]) if row["failures"] else ()
    fields["notes"] = tuple(msgspec.json.decode(row["notes"])) if row["notes"] else ()
    return UsageRow(**fields)
