"""In which hours the ledger has rows of a provider, model, account or status, and how many.

```text
filter ──▶ usage_hours ──▶ stretches of time ──▶ rows, by the index of times
```

The ledger has an index by time only: any other would be dearer to keep than a
row itself. The table follows ``usage`` together with ``usage_days``. Hours are
in UTC, as far as they are in an ISO time: ``2027-01-15T08``.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from ..database import Database, Statements

AT_ONCE = 256
"""Hours that are looked up together."""
LAST = "~"
"""Greater than any time."""
_LENGTH = 13
_ON_THE_HOUR = ":00:00.000Z"
PARTS: Mapping[str, str] = {
    "provider": "COALESCE(provider, '')",
    "model": "COALESCE(model_sent, '')",
    "connection_id": "COALESCE(connection_id, '')",
    "status": "status",
}
"""What the hours are split by, and what that is in a row of the ledger."""
_KEY = ", ".join(("hour", *PARTS))
_SPLIT = ", ".join((f"substr(finished_at, 1, {_LENGTH})", *PARTS.values()))
_COUNT = f"""
    INSERT INTO usage_hours ({_KEY}, requests)
    SELECT {_SPLIT}, count(*) FROM usage WHERE {{where}} GROUP BY {_SPLIT}
    ON CONFLICT ({_KEY}) DO UPDATE SET requests = usage_hours.requests + excluded.requests
"""
_COUNT_NEW = _COUNT.format(where="id > :seen AND id <= :until")
_COUNT_AGAIN = _COUNT.format(where="finished_at >= :since AND finished_at < :until AND id <= :seen")
_FORGET = "DELETE FROM usage_hours WHERE hour >= :since AND hour < :until"


class Stretch(Struct, frozen=True):
    """A stretch of time: ISO texts, of which ``since`` is in it and ``until`` is not."""

    since: str
    until: str

    def within(self, other: "Stretch") -> "Stretch":
        return Stretch(max(self.since, other.since), min(self.until, other.until))


class Hours(Struct, frozen=True):
    """An hour, or several without a gap, and how many rows they have."""

    stretch: Stretch
    requests: int


async def count_new(transaction: Statements, seen: int, until: int) -> None:
    """Count the rows whose ids are above ``seen`` and at most ``until``."""
    await transaction.execute(_COUNT_NEW, seen=seen, until=until)


async def count_again(transaction: Statements, since: str, until: str, seen: int) -> None:
    """Count anew from the beginning of one UTC date to that of another."""
    await transaction.execute(_FORGET, since=since, until=until)
    await transaction.execute(_COUNT_AGAIN, since=since, until=until, seen=seen)


async def hours_with(
    database: Database, parts: Mapping[str, str], within: Stretch
) -> AsyncIterator[Hours]:
    """Each hour that has such rows, newest first, also those that a bound lies in."""
    until = within.until.removesuffix(_ON_THE_HOUR)
    while True:
        rows = await database.fetch(
            "SELECT hour, CAST(sum(requests) AS BIGINT) AS requests FROM usage_hours "
            f"WHERE hour >= :since AND hour < :until{_terms(parts)} "
            "GROUP BY hour ORDER BY hour DESC LIMIT :most",
            since=within.since[:_LENGTH],
            until=until,
            most=AT_ONCE,
            **parts,
        )
        for row in rows:
            yield Hours(Stretch(row["hour"], _next(row["hour"])), row["requests"])
        if len(rows) < AT_ONCE:
            return
        until = rows[-1]["hour"]


async def joined(hours: AsyncIterator[Hours], enough: int) -> AsyncIterator[Hours]:
    """Neighbours as one, until they have enough rows."""
    held: Hours | None = None
    async for one in hours:
        if held is None:
            held = one
        elif one.stretch.until == held.stretch.since and held.requests < enough:
            stretch = Stretch(one.stretch.since, held.stretch.until)
            held = Hours(stretch, held.requests + one.requests)
        else:
            yield held
            held = one
    if held is not None:
        yield held


async def count_in(database: Database, parts: Mapping[str, str], hours: Stretch) -> int:
    """How many such rows there are in hours, of which ``until`` is the first that is not meant."""
    rows = await database.fetch(
        "SELECT CAST(COALESCE(sum(requests), 0) AS BIGINT) AS total FROM usage_hours "
        f"WHERE hour >= :since AND hour < :until{_terms(parts)}",
        since=hours.since,
        until=hours.until,
        **parts,
    )
    total: int = rows[0]["total"]
    return total


def whole(stretch: Stretch) -> Stretch | None:
    """The whole hours in it; ``None`` where there is none."""
    since, until = stretch.since.removesuffix(_ON_THE_HOUR), stretch.until[:_LENGTH]
    if len(since) > _LENGTH:
        since = _next(since[:_LENGTH])
    return Stretch(since, until) if since < until else None


def _terms(parts: Mapping[str, str]) -> str:
    return "".join(f" AND {name} = :{name}" for name in PARTS if name in parts)


def _next(hour: str) -> str:
    return (datetime.fromisoformat(hour) + timedelta(hours=1)).isoformat()[:_LENGTH]
