"""Sums of the ledger by hour and by local day, so that a question about months reads no single row.

```text
usage ──▶ usage_parts   what calls have in common: provider, model, key, …
      ──▶ usage_sums    how many there were of a part in an hour or a day, what they used, and
                        how long they took, as counts in buckets
```

The tables follow ``usage`` when they are read: rows that came since are added up, in the order of
their ids. Deleting rows soils the days they were of; whatever is soiled is summed again before
the next answer.
"""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from gateway_core.storage.database import Database, Row, Statements
from gateway_core.storage.stores.key_usage import UNPRICED

from .latency_buckets import bucket_columns

AT_ONCE = 5_000
"""Rows that are added up in one transaction."""
LAST_DAY = "9999-12-31"
Unit = Literal["minute", "hour", "day"]
"""``minute`` is summed when it is read, ``hour`` is one of UTC, ``day`` a local one."""
HOUR = 13
"""Characters of an ISO time up to its hour."""
MINUTE = 16
_SEEN = "usage_sums.seen"
_SOILED = "usage_sums.soiled"
_PUT = """
    INSERT INTO meta (key, value) VALUES (:key, :value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
_STATE = f"""
    SELECT (SELECT COALESCE(max(id), 0) FROM usage) AS top,
        (SELECT value FROM meta WHERE key = '{_SEEN}') AS seen,
        (SELECT value FROM meta WHERE key = '{_SOILED}') AS soiled
"""
AT: Mapping[Unit, str] = {
    "minute": f"substr(finished_at, 1, {MINUTE})",
    "hour": f"substr(finished_at, 1, {HOUR})",
    "day": "CASE WHEN day = '' THEN substr(finished_at, 1, 10) ELSE day END",
}
"""The minute, hour or day of a row of the ledger."""
PARTS: Mapping[str, str] = {
    "provider": "COALESCE(provider, '')",
    "model": "COALESCE(model_sent, '')",
    "connection_id": "COALESCE(connection_id, '')",
    "api_key_id": "COALESCE(api_key_id, '')",
    "endpoint": "endpoint",
    "combo_id": "COALESCE(combo_id, '')",
    "combo_name": "COALESCE(combo_name, '')",
    "status": "status",
}
"""What the sums are split by, and what that is in a row of the ledger."""
FIGURES: Mapping[str, str] = {
    "requests": "1",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cached_tokens",
    "cost": "COALESCE(cost, 0)",
    "unpriced_requests": f"CASE WHEN {UNPRICED} THEN 1 ELSE 0 END",
    "unpriced_tokens": f"CASE WHEN {UNPRICED} THEN input_tokens + output_tokens ELSE 0 END",
}
"""What is added up, and what a row of the ledger adds."""
TOOK = bucket_columns("took", "duration_ms", "status = 'ok'")
FIRST = bucket_columns("first", "ttft_ms", "status = 'ok'")
"""How long successful calls took until their end, and until their first byte."""


def totals(figures: Iterable[str]) -> str:
    """What to select for sums of these columns."""
    return ", ".join(f"CAST(COALESCE(sum({name}), 0) AS BIGINT) AS {name}" for name in figures)


TOTALS = totals(FIGURES)
SUMS = "(SELECT * FROM usage_sums CROSS JOIN usage_parts WHERE usage_parts.id = part)"
"""The sums with their parts. The order of a CROSS JOIN is kept by SQLite, which would sometimes
rather go through the parts first."""
_NAMES = ", ".join(PARTS)


class Span(Struct, frozen=True):
    """Minutes, hours or days, written as in the tables; ``until`` is no part of it."""

    unit: Unit
    since: str
    until: str


class Sums(Struct, frozen=True, kw_only=True):
    """What the rows with the same eight parts have in common. ``cost`` is in millionths of a
    dollar; an empty text is what is not known."""

    provider: str
    model: str
    connection_id: str
    api_key_id: str
    endpoint: str
    combo_id: str
    combo_name: str
    status: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: int
    unpriced_requests: int
    """Calls that used something whose price is not known."""
    unpriced_tokens: int
    last_at: str


def rows(unit: Unit, where: str) -> str:
    """Rows of the ledger as a table with the columns of ``SUMS``."""
    columns = {"at": AT[unit], **PARTS, **FIGURES, **TOOK, **FIRST, "last_at": "finished_at"}
    listed = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    return f"(SELECT {listed} FROM usage WHERE {where})"


def filter_sql(parts: Mapping[str, str]) -> str:
    """Terms that follow others, for a query of ``SUMS``."""
    return "".join(f" AND {name} = :{name}" for name in PARTS if name in parts)


class UsageSums:
    """Keeps the sums in step with the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()

    async def follow(self) -> None:
        """Catch up with the ledger."""
        async with self._lock:
            state = (await self._database.fetch(_STATE))[0]
            if state["soiled"]:
                await self._clean()
            while int(state["seen"] or 0) < state["top"]:
                await self._add()
                state = (await self._database.fetch(_STATE))[0]

    async def by_parts(self, span: Span, parts: Mapping[str, str] = {}) -> list[Sums]:
        """The sums of hours or days together, by their parts.

        ``parts`` are values of ``PARTS`` that the calls have in common.
        """
        select = f"{_NAMES}, {TOTALS}, max(last_at) AS last_at"
        rows = await self._fetch(select, span, parts, f"GROUP BY {_NAMES}")
        return [Sums(**row) for row in rows]

    async def count(self, span: Span, parts: Mapping[str, str] = {}) -> int:
        """How many rows these hours or days have with such parts."""
        total: int = (await self._fetch(totals(("requests",)), span, parts))[0]["requests"]
        return total

    async def _fetch(
        self, select: str, span: Span, parts: Mapping[str, str], grouping: str = ""
    ) -> list[Row]:
        await self.follow()
        return await self._database.fetch(
            f"SELECT {select} FROM {SUMS} AS s WHERE unit = :unit AND at >= :since AND at < :until"
            f"{filter_sql(parts)} {grouping}",
            **asdict(span),
            **parts,
        )

    async def providers(self) -> list[str]:
        """Every provider that ever answered or refused a call."""
        await self.follow()
        rows = await self._database.fetch(
            "SELECT DISTINCT provider FROM usage_parts WHERE provider <> '' AND id IN "
            "(SELECT part FROM usage_sums WHERE unit = 'day') ORDER BY provider"
        )
        return [row["provider"] for row in rows]

    async def soil(self, first: str, last: str) -> None:
        """Say before rows are deleted which local days they are of, both included."""
        async with self._lock, self._database.transaction() as transaction:
            soiled = (await transaction.fetch(_STATE))[0]["soiled"]
            if soiled:
                first = min(first, soiled.partition(" ")[0])
                last = max(last, soiled.partition(" ")[2])
            await transaction.execute(_PUT, key=_SOILED, value=f"{first} {last}")

    async def _add(self) -> None:
        async with self._database.transaction() as transaction:
            seen = int((await transaction.fetch(_STATE))[0]["seen"] or 0)
            until = await _step(transaction, seen)
            where = "id > :seen AND id <= :until"
            for unit in _STORED:
                await _sum(transaction, unit, where, {"seen": seen, "until": until})
            await transaction.execute(_PUT, key=_SEEN, value=str(until))

    async def _clean(self) -> None:
        async with self._database.transaction() as transaction:
            state = (await transaction.fetch(_STATE))[0]
            first, _, last = (state["soiled"] or "").partition(" ")
            # Local days differ from those of UTC by less than a day at either end.
            margin = timedelta(days=1)
            since = (date.fromisoformat(first) - margin).isoformat() if first else ""
            until = "~"
            if last < LAST_DAY:
                until = (date.fromisoformat(last) + 2 * margin).isoformat()
            # The times only lead to the rows by their index; which day a row is of, the row says.
            where = "finished_at >= :since AND finished_at < :until AND id <= :seen"
            times = {"since": since, "until": until, "seen": int(state["seen"] or 0)}
            await transaction.execute(
                "DELETE FROM usage_sums WHERE unit = 'hour' AND at >= :since AND at < :until",
                since=since,
                until=until,
            )
            await transaction.execute(
                "DELETE FROM usage_sums WHERE unit = 'day' AND at >= :first AND at <= :last",
                first=first,
                last=last,
            )
            await _sum(transaction, "hour", where, times)
            of_days = f"{where} AND {AT['day']} >= :first AND {AT['day']} <= :last"
            await _sum(transaction, "day", of_days, {**times, "first": first, "last": last})
            await transaction.execute("DELETE FROM meta WHERE key = :key", key=_SOILED)


_STORED: tuple[Unit, ...] = ("hour", "day")
_HAS_PART = " AND ".join(f"p.{name} = r.{name}" for name in PARTS)
_PARTS_OF = f"""
    INSERT INTO usage_parts (id, {_NAMES})
    SELECT (SELECT COALESCE(max(id), 0) FROM usage_parts) + row_number() OVER (), {_NAMES}
    FROM (SELECT DISTINCT {_NAMES} FROM {{rows}} AS r) AS parts WHERE true
    ON CONFLICT ({_NAMES}) DO NOTHING
"""
_ALL = (*FIGURES, *TOOK, *FIRST)
_ADDED = ", ".join(f"{name} = usage_sums.{name} + excluded.{name}" for name in _ALL)
_SUMS_OF = f"""
    INSERT INTO usage_sums (unit, at, part, {", ".join(_ALL)}, last_at)
    SELECT :unit, at, p.id, {totals(_ALL)}, max(last_at)
    FROM {{rows}} AS r JOIN usage_parts AS p ON {_HAS_PART} WHERE true GROUP BY at, p.id
    ON CONFLICT (unit, at, part) DO UPDATE SET {_ADDED},
        last_at = CASE WHEN excluded.last_at > usage_sums.last_at
            THEN excluded.last_at ELSE usage_sums.last_at END
"""


async def _sum(transaction: Statements, unit: Unit, where: str, values: Row) -> None:
    """Add rows of the ledger to the sums of their hours or days."""
    table = rows(unit, where)
    await transaction.execute(_PARTS_OF.format(rows=table), **values)
    await transaction.execute(_SUMS_OF.format(rows=table), **values, unit=unit)


async def _step(transaction: Statements, seen: int) -> int:
    """The id up to which the next rows are taken: deleted ones leave long gaps."""
    rows = await transaction.fetch(
        "SELECT max(id) AS until FROM "
        "(SELECT id FROM usage WHERE id > :seen ORDER BY id LIMIT :most) AS next",
        seen=seen,
        most=AT_ONCE,
    )
    return int(rows[0]["until"] or seen)
