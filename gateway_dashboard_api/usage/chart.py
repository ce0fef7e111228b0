"""Usage over time, by hour or by day."""

from collections.abc import Sequence
from datetime import date, datetime

from msgspec import Struct

from gateway_core.storage.moments import iso, local_day, seconds

from ..admin_context import AdminContext
from .periods import DAY, Period, every_day, hours, midnight
from .statistics import dollars


class Bucket(Struct, frozen=True):
    """An hour (``14:00``) or a day (``Nov 3``). ``cost`` is in dollars."""

    label: str
    tokens: int
    cost: float


async def buckets(admin: AdminContext, period: Period) -> list[Bucket]:
    """Return the period's buckets, oldest first, including empty ones."""
    today = local_day(admin.core.clock())
    if period.since is not None:
        return await _hourly(admin, list(hours(period.since, admin.core.clock())))
    if period.first == today:
        return await _hourly(admin, list(hours(midnight(today), midnight(today + DAY))))
    return await _daily(admin, period, today)


async def _hourly(admin: AdminContext, starts: Sequence[float]) -> list[Bucket]:
    rows = await admin.stores.reports.minutes(iso(starts[0]))
    tokens, costs = [0] * len(starts), [0] * len(starts)
    for row in rows:
        passed = seconds(f"{row.at}:00Z") - starts[0]
        # Rows may lie ahead when the clock was set back; they count for the last hour.
        hour = min(int(passed // 3600), len(starts) - 1)
        tokens[hour] += row.input_tokens + row.output_tokens
        costs[hour] += row.cost
    labels = [f"{datetime.fromtimestamp(start):%H:%M}" for start in starts]
    return [
        Bucket(label, some, dollars(cost))
        for label, some, cost in zip(labels, tokens, costs, strict=True)
    ]


async def _daily(admin: AdminContext, period: Period, today: date) -> list[Bucket]:
    rows = {row.at: row for row in await admin.stores.reports.days.days(*period.days)}
    first = period.first or (date.fromisoformat(min(rows)) if rows else today)
    last = max(today, date.fromisoformat(max(rows))) if rows else today
    days = []
    for day in every_day(first, last):
        row = rows.get(day.isoformat())
        label = f"{day:%b} {day.day}"
        days.append(Bucket(label, row.tokens if row else 0, dollars(row.cost if row else 0)))
    return days
