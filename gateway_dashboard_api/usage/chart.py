"""Usage over time, by hour or by day."""

from collections.abc import Sequence
from datetime import date, datetime

from msgspec import Struct

from gateway_core.storage.moments import iso, local_day, seconds
from gateway_core.storage.stores.usage_days import DaySums

from ..admin_context import AdminContext
from .periods import DAY, Period, every_day, hours, midnight
from .statistics import dollars


class Bucket(Struct, frozen=True, rename="camel"):
    """An hour (``14:00``) or a day (``Nov 3``). ``cost`` is in dollars, of the calls whose price
    is known."""

    label: str
    tokens: int
    cost: float
    unpriced_requests: int
    unpriced_tokens: int


async def buckets(admin: AdminContext, period: Period) -> list[Bucket]:
    """Return the period's buckets, oldest first, including empty ones."""
    today = local_day(admin.core.clock())
    if period.since is not None:
        return await _hourly(admin, list(hours(period.since, admin.core.clock())))
    if period.first == today:
        return await _hourly(admin, list(hours(midnight(today), midnight(today + DAY))))
    return await _daily(admin, period, today)


async def _hourly(admin: AdminContext, starts: Sequence[float]) -> list[Bucket]:
    hours = [[0, 0, 0, 0] for _ in starts]
    for row in await admin.stores.reports.minutes(iso(starts[0])):
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


async def _daily(admin: AdminContext, period: Period, today: date) -> list[Bucket]:
    rows = {row.at: row for row in await admin.stores.reports.days.days(*period.days)}
    first = period.first or (date.fromisoformat(min(rows)) if rows else today)
    last = max(today, date.fromisoformat(max(rows))) if rows else today
    days = []
    for day in every_day(first, last):
        row = rows.get(day.isoformat()) or DaySums("", 0, 0, 0)
        days.append(
            Bucket(
                f"{day:%b} {day.day}",
                row.tokens,
                dollars(row.cost),
                row.unpriced_requests,
                row.unpriced_tokens,
            )
        )
    return days
