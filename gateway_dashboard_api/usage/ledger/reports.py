"""The ledger as it is read by people: pages of rows, recent minutes, sums of any stretch of time.

Rows are ordered by the time they ended, which is what the ledger's index goes by.
Whole local days and hours are answered from their sums, see ``sums``; rows of one
provider and the like are looked for in the hours that have some, see ``hours``.
"""

from collections.abc import Mapping

from msgspec import Struct

from gateway_core.storage.database import Database, Row
from gateway_core.storage.stores.usage import Status, UsageFilter, UsageRow, UsageStore, read_row

from .hours import LAST, Stretch, hours_with, joined, whole
from .series import UsageSeries
from .sums import LAST_DAY, PARTS, TOTALS, Span, Sums, UsageSums, rows

_NEWEST_FIRST = "ORDER BY finished_at DESC, id DESC"
_PART: Mapping[str, str] = {
    "provider": "provider",
    "model": "model",
    "connection": "connection_id",
    "api_key": "api_key_id",
    "endpoint": "endpoint",
    "combo": "combo_id",
    "status": "status",
}
_NAMES = ", ".join(PARTS)


class Which(Struct, frozen=True, kw_only=True):
    """Rows to show; ``None`` takes any, an empty text those that have none.

    ``since`` is included, ``until`` is not, both UTC ISO.
    """

    provider: str | None = None
    model: str | None = None
    """As it was sent to the vendor."""
    connection: str | None = None
    api_key: str | None = None
    endpoint: str | None = None
    combo: str | None = None
    """The combo's id."""
    status: Status | None = None
    request_id: str | None = None
    """There is no index of these: without times, the whole ledger is looked through."""
    since: str | None = None
    until: str | None = None
    days: tuple[str, str] | None = ("", LAST_DAY)
    """The first and last local day, if the times are just where these begin and end."""

    @property
    def parts(self) -> Mapping[str, str]:
        """What is wanted, by the names in the tables of sums."""
        values = {name: getattr(self, field) for field, name in _PART.items()}
        return {name: value for name, value in values.items() if value is not None}


class UsageReports:
    """Questions about the ledger."""

    def __init__(self, database: Database, usage: UsageStore) -> None:
        self._database = database
        self._usage = usage
        self._sums = UsageSums(database)
        self.series = UsageSeries(database, self._sums)
        self.providers = self._sums.providers

    async def page(self, which: Which, *, limit: int, offset: int = 0) -> list[UsageRow]:
        """Rows, newest first."""
        parts = which.parts
        if which.request_id is not None:
            return (await self._of_request(which))[offset : offset + limit]
        if parts:
            return await self._page_of_parts(which, parts, limit, offset)
        return await self._rows(which, _within(which), limit, offset)

    async def _of_request(self, which: Which) -> list[UsageRow]:
        where, values = _where(which, _within(which))
        # Of an expression there is no index: the rows are read as they lie, which is quicker here.
        where = where.replace("finished_at", "finished_at || ''") if which.since is None else where
        rows = await self._database.fetch(
            f"SELECT * FROM usage{where} AND request_id = :request_id",
            **values,
            request_id=which.request_id,
        )
        return [read_row(row) for row in rows]

    async def _page_of_parts(
        self, which: Which, parts: Mapping[str, str], limit: int, offset: int
    ) -> list[UsageRow]:
        """Only those hours are looked through in which there are such rows."""
        await self._sums.follow()
        within, rest = _within(which), offset
        rows: list[UsageRow] = []
        relevant = hours_with(self._database, parts, within)
        async for hours in joined(relevant, enough=limit):
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
        parts = which.parts
        if which.request_id is not None:
            return len(await self._of_request(which))
        if which.days is not None:
            return await self._sums.count(_span(*which.days), parts)
        within = _within(which)
        hours = whole(within) if parts else None
        if hours is None:
            return await self._count(which, within)
        before = await self._count(which, Stretch(within.since, hours.since))
        after = await self._count(which, Stretch(hours.until, within.until))
        return before + await self._sums.count(hours, parts) + after

    async def _count(self, which: Which, stretch: Stretch) -> int:
        where, values = _where(which, stretch)
        rows = await self._database.fetch(f"SELECT count(*) AS total FROM usage{where}", **values)
        total: int = rows[0]["total"]
        return total

    async def sums(self, which: Which) -> list[Sums]:
        """What was used, by its parts; those of several stretches are several times in it."""
        if which.days is not None:
            return await self._sums.by_parts(_span(*which.days), which.parts)
        within = _within(which)
        hours = whole(within)
        if hours is None:
            return await self._sums_of_rows(which, within)
        return [
            *await self._sums_of_rows(which, Stretch(within.since, hours.since)),
            *await self._sums.by_parts(hours, which.parts),
            *await self._sums_of_rows(which, Stretch(hours.until, within.until)),
        ]

    async def _sums_of_rows(self, which: Which, stretch: Stretch) -> list[Sums]:
        where, values = _where(which, stretch)
        fetched = await self._database.fetch(
            f"SELECT {_NAMES}, {TOTALS}, max(last_at) AS last_at "
            f"FROM {rows('minute', where.removeprefix(' WHERE '))} AS r GROUP BY {_NAMES}",
            **values,
        )
        return [Sums(**row) for row in fetched]

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

    async def between(self, after: int, until: int, *, limit: int) -> list[UsageRow]:
        """The newest rows behind that number, up to the other one, oldest first."""
        rows = await self._database.fetch(
            "SELECT * FROM usage WHERE id > :after AND id <= :until ORDER BY id DESC LIMIT :limit",
            after=after,
            until=until,
            limit=limit,
        )
        return [read_row(row) for row in reversed(rows)]

    async def delete(self, which: UsageFilter, first_day: str, last_day: str) -> int:
        """Remove rows for good; gives how many. All of them must be of these local days."""
        await self._sums.soil(first_day, last_day)
        deleted = await self._usage.delete(which)
        # Somebody may have asked in between, who has seen rows that are gone now.
        await self._sums.soil(first_day, last_day)
        return deleted


def _within(which: Which) -> Stretch:
    return Stretch(which.since or "", which.until or LAST)


def _span(first: str, last: str) -> Span:
    """Local days, both included."""
    return Span("day", first, f"{last}~")


def _where(which: Which, stretch: Stretch) -> tuple[str, Row]:
    terms = "".join(f" AND {PARTS[name]} = :{name}" for name in which.parts)
    bounds = {"since": stretch.since, "until": stretch.until}
    return f" WHERE finished_at >= :since AND finished_at < :until{terms}", {
        **bounds,
        **which.parts,
    }
