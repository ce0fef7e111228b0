"""What each gateway key used: by local day, and in all. Written with the ledger's own rows.

The days follow the table ``usage``, so that deleting its rows moves the windows
that look back; the totals of a key's whole life stay.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import sub
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, astuple

from ..database import Database, Statements

MARK = "journal."
"""Where the marks of journals begin in the table ``meta``."""
IS_MARK = "key >= 'journal.' AND key < 'journal/'"
UNPRICED = (
    "cost IS NULL AND attempts > 0 AND (status = 'ok' OR input_tokens > 0 OR output_tokens > 0)"
)
"""Rows of calls that used something whose price is not known, as ``is_unpriced`` says."""
_FIGURES = (
    *("requests", "input_tokens", "output_tokens", "cost", "unpriced_requests", "unpriced_tokens"),
)
_VALUES = ", ".join(f":{name}" for name in _FIGURES)


def _added(table: str) -> str:
    return ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in _FIGURES)


_ADD_DAY = f"""
    INSERT INTO key_days (api_key_id, day, {", ".join(_FIGURES)})
    VALUES (:api_key_id, :day, {_VALUES})
    ON CONFLICT (api_key_id, day) DO UPDATE SET {_added("key_days")}
"""
_ADD_TOTAL = f"""
    INSERT INTO key_totals (api_key_id, {", ".join(_FIGURES)})
    VALUES (:api_key_id, {_VALUES})
    ON CONFLICT (api_key_id) DO UPDATE SET {_added("key_totals")}
"""
_REBUILD = f"""
    INSERT INTO key_days (api_key_id, day, {", ".join(_FIGURES)})
    SELECT api_key_id, day, count(*),
        CAST(sum(input_tokens) AS BIGINT), CAST(sum(output_tokens) AS BIGINT),
        CAST(COALESCE(sum(cost), 0) AS BIGINT),
        count(CASE WHEN {UNPRICED} THEN 1 END),
        CAST(sum(CASE WHEN {UNPRICED} THEN input_tokens + output_tokens ELSE 0 END) AS BIGINT)
    FROM usage WHERE api_key_id IS NOT NULL AND attempts > 0
    GROUP BY api_key_id, day
"""


class Spending(Struct, frozen=True, rename="camel"):
    """Calls that reached a vendor, and what they used. ``cost`` is in millionths of a dollar."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    """Of the calls whose price is known."""
    unpriced_requests: int = 0
    unpriced_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Spending") -> "Spending":
        return Spending(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.unpriced_requests + other.unpriced_requests,
            self.unpriced_tokens + other.unpriced_tokens,
        )

    def minus(self, other: "Spending") -> "Spending":
        return Spending(*map(sub, astuple(self), astuple(other)))


NOTHING = Spending()


class KeySpent(Struct, frozen=True, kw_only=True):
    """What one key used on a day, in its month, and ever."""

    day: str
    """Local date, ``YYYY-MM-DD``."""
    today: Spending = NOTHING
    month: Spending = NOTHING
    ever: Spending = NOTHING

    def plus(self, used: Spending, day: str) -> "KeySpent":
        """With a call that ended on a day."""
        return KeySpent(
            day=self.day,
            today=self.today.plus(used) if day == self.day else self.today,
            month=self.month.plus(used) if day[:7] == self.day[:7] else self.month,
            ever=self.ever.plus(used),
        )


class KeyUsageStore:
    """Sums for each key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spent(self, key_id: str, day: str) -> KeySpent:
        """What a key used on ``day``, since the first of its month, and ever."""
        return (await self.spent_and_marks(key_id, day))[0]

    async def spent_and_marks(self, key_id: str, day: str) -> tuple[KeySpent, Mapping[str, int]]:
        """The same, and the mark of each journal at that moment."""
        rows = await self._database.fetch(
            f"""
            SELECT 'today' AS span, {", ".join(_FIGURES)}
            FROM key_days WHERE api_key_id = :key AND day = :day
            UNION ALL
            SELECT 'month', {", ".join(f"CAST(sum({name}) AS BIGINT)" for name in _FIGURES)}
            FROM key_days WHERE api_key_id = :key AND day >= :first AND day <= :last
            HAVING count(*) > 0
            UNION ALL
            SELECT 'ever', {", ".join(_FIGURES)}
            FROM key_totals WHERE api_key_id = :key
            UNION ALL
            SELECT key, CAST(value AS BIGINT), 0, 0, 0, 0, 0 FROM meta WHERE {IS_MARK}
            """,
            key=key_id,
            day=day,
            first=f"{day[:8]}01",
            last=f"{day[:8]}31",
        )
        sums = {row["span"]: Spending(*list(row.values())[1:]) for row in rows}
        marks = {
            name.removeprefix(MARK): sums.pop(name).requests
            for name in tuple(sums)
            if name.startswith(MARK)
        }
        return KeySpent(day=day, **sums), marks

    async def ever(self) -> Mapping[str, Spending]:
        """The totals of every key that was ever used."""
        columns = ", ".join(("api_key_id", *_FIGURES))
        rows = await self._database.fetch(f"SELECT {columns} FROM key_totals")
        return {row["api_key_id"]: Spending(*list(row.values())[1:]) for row in rows}


def additions(
    spent: Iterable[tuple[str, str, Spending]],
) -> list[tuple[str, Sequence[Mapping[str, object]]]]:
    """The statements that count calls: key id, local day, what was used."""
    days: dict[tuple[str, str], Spending] = {}
    totals: dict[str, Spending] = {}
    for key, day, used in spent:
        days[key, day] = days.get((key, day), NOTHING).plus(used)
        totals[key] = totals.get(key, NOTHING).plus(used)
    if not days:
        return []
    return [
        (_ADD_DAY, [_row(key, used, day=day) for (key, day), used in days.items()]),
        (_ADD_TOTAL, [_row(key, used) for key, used in totals.items()]),
    ]


async def forget(transaction: Statements, key_id: str) -> None:
    """Remove the sums of a key that is deleted."""
    for table in ("key_days", "key_totals"):
        await transaction.execute(f"DELETE FROM {table} WHERE api_key_id = :key", key=key_id)


async def rebuild(transaction: Statements) -> None:
    """Make the days anew from the ledger, after some of it was deleted."""
    await transaction.execute("DELETE FROM key_days")
    await transaction.execute(_REBUILD)


def _row(key: str, used: Spending, **more: str) -> dict[str, object]:
    return {"api_key_id": key, **asdict(used), **more}


class Counted(Protocol):
    """What is read of a usage record."""

    @property
    def api_key_id(self) -> str | None: ...
    @property
    def day(self) -> str: ...
    @property
    def attempts(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def cost(self) -> int | None: ...


def spent_of(records: Iterable[Counted]) -> Iterator[tuple[str, str, Spending]]:
    """What usage records say of keys, together for each key and day. A call that reached no
    vendor is not counted."""
    sums: dict[tuple[str, str], list[int]] = {}
    for record in records:
        if record.api_key_id is not None and record.attempts > 0:
            pair = record.api_key_id, record.day
            figures = sums.get(pair)
            if figures is None:
                figures = sums[pair] = [0] * len(_FIGURES)
            figures[0] += 1
            figures[1] += record.input_tokens
            figures[2] += record.output_tokens
            if record.cost is not None:
                figures[3] += record.cost
            elif is_unpriced(record):
                figures[4] += 1
                figures[5] += record.input_tokens + record.output_tokens
    for (key, day), figures in sums.items():
        yield key, day, Spending(*figures)


def used_by(record: Counted) -> Spending:
    """What one call used."""
    if record.cost is None and is_unpriced(record):
        tokens = record.input_tokens + record.output_tokens
        return Spending(1, record.input_tokens, record.output_tokens, 0, 1, tokens)
    return Spending(1, record.input_tokens, record.output_tokens, record.cost or 0)


def is_unpriced(record: Counted) -> bool:
    """Whether a call used something whose price is not known; ``UNPRICED`` in SQL."""
    if record.cost is not None or not record.attempts:
        return False
    return record.status == "ok" or record.input_tokens > 0 or record.output_tokens > 0
