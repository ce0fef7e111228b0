"""Sums of the ledger by local day, so that a question about months reads no single row.

The table follows ``usage`` when somebody asks: rows that came since are added
up, in the order of their ids. Deleting rows soils the days they were of;
whatever is soiled is summed again before the next answer.
"""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta

from msgspec import Struct

from ..database import Database, Row, Statements
from .key_usage import UNPRICED
from .usage_hours import count_again, count_new

AT_ONCE = 20_000
"""Rows that are added up in one transaction."""
LAST_DAY = "9999-12-31"
_SEEN = "usage_days.seen"
_SOILED = "usage_days.soiled"
_PUT = """
    INSERT INTO meta (key, value) VALUES (:key, :value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
_STATE = f"""
    SELECT (SELECT COALESCE(max(id), 0) FROM usage) AS top,
        (SELECT value FROM meta WHERE key = '{_SEEN}') AS seen,
        (SELECT value FROM meta WHERE key = '{_SOILED}') AS soiled
"""
_DAY = "CASE WHEN day = '' THEN substr(finished_at, 1, 10) ELSE day END"
PARTS = {
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
FIGURES = {
    "requests": "count(*)",
    "input_tokens": "sum(input_tokens)",
    "output_tokens": "sum(output_tokens)",
    "cached_tokens": "sum(cached_tokens)",
    "cost": "COALESCE(sum(cost), 0)",
    "unpriced_requests": f"count(CASE WHEN {UNPRICED} THEN 1 END)",
    "unpriced_tokens": f"sum(CASE WHEN {UNPRICED} THEN input_tokens + output_tokens ELSE 0 END)",
}
_ADDED = ", ".join(f"{name} = usage_days.{name} + excluded.{name}" for name in FIGURES)
_SUM = f"""
    INSERT INTO usage_days (day, {", ".join(PARTS)}, {", ".join(FIGURES)}, last_at)
    SELECT {_DAY}, {", ".join(PARTS.values())},
        {", ".join(f"CAST({figure} AS BIGINT)" for figure in FIGURES.values())}, max(finished_at)
    FROM usage WHERE {{where}}
    GROUP BY {_DAY}, {", ".join(PARTS.values())}
    ON CONFLICT (day, {", ".join(PARTS)}) DO UPDATE SET {_ADDED},
        last_at = CASE WHEN excluded.last_at > usage_days.last_at
            THEN excluded.last_at ELSE usage_days.last_at END
"""
_SUM_NEW = _SUM.format(where="id > :seen AND id <= :until")
# The times only lead to the rows by their index; which day a row is of, the row says.
_SUM_DAYS = _SUM.format(
    where=f"finished_at >= :since AND finished_at < :until AND id <= :seen "
    f"AND {_DAY} >= :first AND {_DAY} <= :last"
)


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
    unpriced_tokens: int
    last_at: str


class DaySums(Struct, frozen=True):
    """One local day, or another stretch of time that ``at`` names."""

    at: str
    requests: int
    tokens: int
    cost: int
    unpriced_requests: int = 0
    unpriced_tokens: int = 0


class UsageDays:
    """The sums of whole local days. ``first`` and ``last`` are both included, ``YYYY-MM-DD``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()

    async def sums(self, first: str = "", last: str = LAST_DAY) -> list[Sums]:
        """The sums of all these days together, by their parts."""
        await self.follow()
        figures = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in FIGURES)
        rows = await self._database.fetch(
            f"SELECT {', '.join(PARTS)}, {figures}, max(last_at) AS last_at FROM usage_days "
            f"WHERE day >= :first AND day <= :last GROUP BY {', '.join(PARTS)}",
            first=first,
            last=last,
        )
        return [Sums(**row) for row in rows]

    async def days(self, first: str = "", last: str = LAST_DAY) -> list[DaySums]:
        """Each day that has rows, in order."""
        await self.follow()
        rows = await self._database.fetch(
            """
            SELECT day AS at, CAST(sum(requests) AS BIGINT) AS requests,
                CAST(sum(input_tokens + output_tokens) AS BIGINT) AS tokens,
                CAST(sum(cost) AS BIGINT) AS cost,
                CAST(sum(unpriced_requests) AS BIGINT) AS unpriced_requests,
                CAST(sum(unpriced_tokens) AS BIGINT) AS unpriced_tokens
            FROM usage_days WHERE day >= :first AND day <= :last GROUP BY day ORDER BY day
            """,
            first=first,
            last=last,
        )
        return [DaySums(**row) for row in rows]

    async def count(self, first: str, last: str, **parts: str) -> int:
        """How many rows these days have with such parts."""
        await self.follow()
        terms = "".join(f" AND {name} = :{name}" for name in PARTS if name in parts)
        rows = await self._database.fetch(
            "SELECT CAST(COALESCE(sum(requests), 0) AS BIGINT) AS total FROM usage_days "
            f"WHERE day >= :first AND day <= :last{terms}",
            first=first,
            last=last,
            **parts,
        )
        total: int = rows[0]["total"]
        return total

    async def providers(self) -> list[str]:
        """Every provider that ever answered or refused a call."""
        await self.follow()
        rows = await self._database.fetch(
            "SELECT DISTINCT provider FROM usage_days WHERE provider <> '' ORDER BY provider"
        )
        return [row["provider"] for row in rows]

    async def soil(self, first: str, last: str) -> None:
        """Say before rows are deleted which days they are of."""
        async with self._lock, self._database.transaction() as transaction:
            soiled = (await transaction.fetch(_STATE))[0]["soiled"]
            if soiled:
                first = min(first, soiled.partition(" ")[0])
                last = max(last, soiled.partition(" ")[2])
            await transaction.execute(_PUT, key=_SOILED, value=f"{first} {last}")

    async def follow(self) -> None:
        """Catch up with the ledger."""
        async with self._lock:
            state = (await self._database.fetch(_STATE))[0]
            if state["soiled"]:
                await self._clean()
            while int(state["seen"] or 0) < state["top"]:
                await self._add()
                state = (await self._database.fetch(_STATE))[0]

    async def _add(self) -> None:
        async with self._database.transaction() as transaction:
            seen = _seen((await transaction.fetch(_STATE))[0])
            until = await _step(transaction, seen)
            await transaction.execute(_SUM_NEW, seen=seen, until=until)
            await count_new(transaction, seen, until)
            await transaction.execute(_PUT, key=_SEEN, value=str(until))

    async def _clean(self) -> None:
        async with self._database.transaction() as transaction:
            state = (await transaction.fetch(_STATE))[0]
            first, _, last = (state["soiled"] or "").partition(" ")
            days = {"first": first, "last": last}
            await transaction.execute(
                "DELETE FROM usage_days WHERE day >= :first AND day <= :last", **days
            )
            # Local days differ from those of UTC by less than a day at either end.
            margin = timedelta(days=1)
            since = (date.fromisoformat(first) - margin).isoformat() if first else ""
            until = "~"
            if last < LAST_DAY:
                until = (date.fromisoformat(last) + 2 * margin).isoformat()
            seen = _seen(state)
            await transaction.execute(_SUM_DAYS, **days, since=since, until=until, seen=seen)
            await count_again(transaction, since, until, seen)
            await transaction.execute("DELETE FROM meta WHERE key = :key", key=_SOILED)


def _seen(state: Row) -> int:
    return int(state["seen"] or 0)


async def _step(transaction: Statements, seen: int) -> int:
    """The id up to which the next rows are taken: deleted ones leave long gaps."""
    rows: Sequence[Row] = await transaction.fetch(
        "SELECT max(id) AS until FROM "
        "(SELECT id FROM usage WHERE id > :seen ORDER BY id LIMIT :most) AS next",
        seen=seen,
        most=AT_ONCE,
    )
    return int(rows[0]["until"] or seen)
