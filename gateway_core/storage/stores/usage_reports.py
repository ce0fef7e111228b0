"""The ledger as it is read by people: pages of rows, recent minutes, sums of any stretch of time.

Rows are ordered by the time they ended, which is what the ledger's index goes by.
Whole local days are answered from their sums, see ``usage_days``; rows of one
provider and the like are looked for in the hours that have some, see ``usage_hours``.
"""

from collections.abc import Mapping

from msgspec import Struct

from ..database import Database, Row
from .usage import Status, UsageFilter, UsageRow, UsageStore, read_row
from .usage_days import FIGURES, LAST_DAY, PARTS, Sums, UsageDays
from .usage_hours import LAST, Stretch, count_in, hours_with, joined, whole

_MINUTE = 16
"""Characters of an ISO time up to its minute."""
_NEWEST_FIRST = "ORDER BY finished_at DESC, id DESC"
_TERMS: Mapping[str, str] = {
    "provider": "provider = :provider",
    "model": "model_sent = :model",
    "connection": "connection_id = :connection",
    "status": "status = :status",
}
_PART: Mapping[str, str] = {
    "provider": "provider",
    "model": "model",
    "connection": "connection_id",
    "status": "status",
}


class Which(Struct, frozen=True, kw_only=True):
    """Rows to show; ``None`` takes any. ``since`` is included, ``until`` is not, both UTC ISO."""

    provider: str | None = None
    model: str | None = None
    """As it was sent to the vendor."""
    connection: str | None = None
    status: Status | None = None
    since: str | None = None
    until: str | None = None
    days: tuple[str, str] | None = ("", LAST_DAY)
    """The first and last local day, if the times are just where these begin and end."""


class Minute(Struct, frozen=True, kw_only=True):
    """What ended in one minute; ``at`` is its UTC ISO text as far as the minute."""

    at: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost: int
    unpriced_requests: int
    unpriced_tokens: int


class UsageReports:
    """Questions about the ledger."""

    def __init__(self, database: Database, usage: UsageStore) -> None:
        self._database = database
        self._usage = usage
        self.days = UsageDays(database)

    async def page(self, which: Which, *, limit: int, offset: int = 0) -> list[UsageRow]:
        """Rows, newest first."""
        parts = _parts(which)
        if parts:
            return await self._page_of_parts(which, parts, limit, offset)
        return await self._rows(which, _within(which), limit, offset)

    async def _page_of_parts(
        self, which: Which, parts: Mapping[str, str], limit: int, offset: int
    ) -> list[UsageRow]:
        """Only those hours are looked through in which there are such rows."""
        await self.days.follow()
        within, rest = _within(which), offset
        rows: list[UsageRow] = []
        found = hours_with(self._database, parts, within)
        async for hours in joined(found, enough=limit):
            stretch = hours.stretch.within(within)
            if rest:
                is_whole = stretch == hours.stretch
                count = hours.requests if is_whole else await self._count(which, stretch)
                if rest >= count:
                    rest -= count
                    continue
            rows += await self._rows(which, stretch, limit - len(rows), rest)
            rest = 0
            if len(rows) >= limit:
                break
        return rows

    async def _rows(
        self, which: Which, stretch: Stretch, limit: int, offset: int
    ) -> list[UsageRow]:
        where, values = _where(which, stretch)
        # What is skipped is skipped in the index: only the rows of the page are read.
        rows = await self._database.fetch(
            f"SELECT * FROM usage WHERE id IN (SELECT id FROM usage{where} {_NEWEST_FIRST} "
            f"LIMIT :limit OFFSET :offset) {_NEWEST_FIRST}",
            **values,
            limit=limit,
            offset=offset,
        )
        return [read_row(row) for row in rows]

    async def after(self, row: UsageRow, which: Which, *, limit: int) -> list[UsageRow]:
        """The rows that follow one, newest first, however many came or went meanwhile."""
        where, values = _where(which, _within(which))
        rows = await self._database.fetch(
            f"SELECT * FROM usage{where} "
            "AND (finished_at < :place OR (finished_at = :place AND id < :after)) "
            f"AND finished_at <= :place {_NEWEST_FIRST} LIMIT :limit",
            **values,
            place=row.finished_at,
            after=row.id,
            limit=limit,
        )
        return [read_row(each) for each in rows]

    async def count(self, which: Which) -> int:
        """How many rows there are. Only those of hours that are cut off are counted singly."""
        parts = _parts(which)
        if which.days is not None:
            return await self.days.count(*which.days, **parts)
        within = _within(which)
        hours = whole(within) if parts else None
        if hours is None:
            return await self._count(which, within)
        await self.days.follow()
        before = await self._count(which, Stretch(within.since, hours.since))
        after = await self._count(which, Stretch(hours.until, within.until))
        return before + await count_in(self._database, parts, hours) + after

    async def _count(self, which: Which, stretch: Stretch) -> int:
        where, values = _where(which, stretch)
        rows = await self._database.fetch(f"SELECT count(*) AS total FROM usage{where}", **values)
        total: int = rows[0]["total"]
        return total

    async def sums_since(self, since: str) -> list[Sums]:
        """What ended since a moment, by its parts."""
        parts = ", ".join(f"{value} AS {name}" for name, value in PARTS.items())
        figures = ", ".join(f"CAST({value} AS BIGINT) AS {name}" for name, value in FIGURES.items())
        rows = await self._database.fetch(
            f"SELECT {parts}, {figures}, max(finished_at) AS last_at FROM usage "
            f"WHERE finished_at >= :since GROUP BY {', '.join(PARTS.values())}",
            since=since,
        )
        return [Sums(**row) for row in rows]

    async def minutes(self, since: str) -> list[Minute]:
        """Each minute since a moment in which something ended, in order."""
        minute = f"substr(finished_at, 1, {_MINUTE})"
        figures = ", ".join(
            f"CAST({FIGURES[name]} AS BIGINT) AS {name}"
            for name in Minute.__struct_fields__
            if name in FIGURES
        )
        rows = await self._database.fetch(
            f"""
            SELECT {minute} AS at, {figures}
            FROM usage WHERE finished_at >= :since GROUP BY {minute} ORDER BY {minute}
            """,
            since=since,
        )
        return [Minute(**row) for row in rows]

    async def first_at(self) -> str | None:
        """When the oldest row ended."""
        rows = await self._database.fetch("SELECT min(finished_at) AS at FROM usage")
        at: str | None = rows[0]["at"]
        return at

    async def last_id(self) -> int:
        """The newest row's number: another one means that there is something new."""
        rows = await self._database.fetch("SELECT COALESCE(max(id), 0) AS id FROM usage")
        last: int = rows[0]["id"]
        return last

    async def delete(self, which: UsageFilter, first_day: str, last_day: str) -> int:
        """Remove rows for good; gives how many. All of them must be of these local days."""
        await self.days.soil(first_day, last_day)
        deleted = await self._usage.delete(which)
        # Somebody may have asked in between, who has seen rows that are gone now.
        await self.days.soil(first_day, last_day)
        return deleted


def _within(which: Which) -> Stretch:
    return Stretch(which.since or "", which.until or LAST)


def _parts(which: Which) -> Mapping[str, str]:
    """What is wanted, by the names in the tables of sums."""
    given = {name: getattr(which, field) for field, name in _PART.items()}
    return {name: value for name, value in given.items() if value is not None}


def _where(which: Which, stretch: Stretch) -> tuple[str, Row]:
    given = {name: getattr(which, name) for name in _PART}
    values = {name: value for name, value in given.items() if value is not None}
    terms = "".join(f" AND {_TERMS[name]}" for name in values)
    bounds = {"since": stretch.since, "until": stretch.until}
    return f" WHERE finished_at >= :since AND finished_at < :until{terms}", {**bounds, **values}
