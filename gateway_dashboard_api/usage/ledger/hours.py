"""In which hours the ledger has rows with some parts in common, and how many.

```text
filter ──▶ usage_sums ──▶ stretches of time ──▶ rows, by the index of times
```

The ledger has an index by time only: any other would be dearer to keep than a
row itself. Hours are in UTC, as far as they are in an ISO time: ``2027-01-15T08``.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from gateway_core.storage.database import Database

from .sums import HOUR, SUMS, Span, filter_sql

AT_ONCE = 256
"""Hours that are looked up together."""
LAST = "~"
"""Greater than any time."""
_ON_THE_HOUR = ":00:00.000Z"


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


async def hours_with(
    database: Database, parts: Mapping[str, str], within: Stretch
) -> AsyncIterator[Hours]:
    """Each hour that has such rows, newest first, also those that a bound lies in."""
    until = within.until.removesuffix(_ON_THE_HOUR)
    while True:
        rows = await database.fetch(
            f"SELECT at, CAST(sum(requests) AS BIGINT) AS requests FROM {SUMS} AS s "
            f"WHERE unit = 'hour' AND at >= :since AND at < :until{filter_sql(parts)} "
            "GROUP BY at ORDER BY at DESC LIMIT :most",
            since=within.since[:HOUR],
            until=until,
            most=AT_ONCE,
            **parts,
        )
        for row in rows:
            yield Hours(Stretch(row["at"], _next(row["at"])), row["requests"])
        if len(rows) < AT_ONCE:
            return
        until = rows[-1]["at"]


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


def whole(stretch: Stretch) -> Span | None:
    """The whole hours in it; ``None`` where there is none."""
    since, until = stretch.since.removesuffix(_ON_THE_HOUR), stretch.until[:HOUR]
    if len(since) > HOUR:
        since = _next(since[:HOUR])
    return Span("hour", since, until) if since < until else None


def _next(hour: str) -> str:
    return (datetime.fromisoformat(hour) + timedelta(hours=1)).isoformat()[:HOUR]
