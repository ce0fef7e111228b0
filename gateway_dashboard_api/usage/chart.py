"""Usage over time, by hour or by day."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from msgspec import Struct

from gateway_core.storage.moments import iso, local_day, seconds

from ..admin_context import AdminContext
from .ledger.hours import LAST
from .ledger.sums import MINUTE, Span
from .periods import DAY, Period, every_day, hours, midnight
from .statistics import dollars

Parts = Mapping[str, str]
"""What the calls have in common, see ``ledger.sums.PARTS``."""


class Bucket(Struct, frozen=True, rename="camel"):
    """An hour (``14:00``) or a day (``Nov 3``). ``cost`` is in dollars, of the calls whose price
    is known."""

    label: str
    tokens: int
    cost: float
    unpriced_requests: int
    unpriced_tokens: int


async def buckets(admin: AdminContext, period: Period, parts: Parts) -> list[Bucket]:
    """Return the period's buckets, oldest first, including empty ones."""
    today = local_day(admin.core.clock())
    if period.since is not None:
        return await _hourly(admin, list(hours(period.since, admin.core.clock())), parts)
    if period.first == today:
        return await _hourly(admin, list(hours(midnight(today), midnight(today + DAY))), parts)
    return await _daily(admin, period, today, parts)


async def _hourly(admin: AdminContext, starts: Sequence[float], parts: Parts) -> list[Bucket]:
    hours = [[0, 0, 0, 0] for _ in starts]
    span = Span("minute", iso(starts[0])[:MINUTE], LAST)
    for row in await admin.reports.series.slots(span, parts):
        passed = seconds(f"{row.at}:00Z") - starts[0]
        # Rows may lie ahead when the clock was set back; they count for the last hour.
        hour = hours[min(int(passed // 3600), len(starts) - 1)]
        hour[0] += row.input_tokens + row.output_tokens
        hour[1] += row.cost
        hour[2] += row.unpriced_requests
        hour[3] += row.unpriced_tokens
    return [
        Bucket(f"{datetime.fromtimestamp(start):%H:%M}", tokens, dollars(cost), calls, unpriced)
        for start, (tokens, cost, calls, unpriced) in zip(starts, hours, strict=True)
    ]


async def _daily(admin: AdminContext, period: Period, today: date, parts: Parts) -> list[Bucket]:
    first_day, last_day = period.days
    slots = await admin.reports.series.slots(Span("day", first_day, f"{last_day}~"), parts)
    rows = {row.at: row for row in slots}
    first = period.first or (date.fromisoformat(min(rows)) if rows else today)
    last = max(today, date.fromisoformat(max(rows))) if rows else today
    days = []
    for day in every_day(first, last):
        row = rows.get(day.isoformat())
        label = f"{day:%b} {day.day}"
        if row is None:
            days.append(Bucket(label, 0, 0, 0, 0))
        else:
            tokens, unpriced = row.input_tokens + row.output_tokens, row.unpriced_requests
            cost = dollars(row.cost)
            days.append(Bucket(label, tokens, cost, unpriced, row.unpriced_tokens))
    return days
