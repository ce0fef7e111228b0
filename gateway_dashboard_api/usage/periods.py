"""The periods of usage queries, as local days and as points in time."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo

from msgspec import Struct

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.moments import iso, local_day

DAY = timedelta(days=1)
HOUR = 3600
MINUTE = 60
DAYS = {"today": 1, "7d": 7, "30d": 30, "60d": 60, "90d": 90, "180d": 180, "365d": 365}
LAST_DAY_HOURS = "24h"
ALL = "all"
STATS = ("today", "24h", "7d", "30d", "60d", "all")
CHART = (*STATS, "90d", "180d", "365d")
USUAL = "7d"


class Period(Struct, frozen=True):
    """Whole local days, both included; or, with ``since``, what ended from a moment on."""

    first: date | None = None
    """``None`` means from the beginning."""
    last: date | None = None
    """``None`` means without an end."""
    since: float | None = None
    """Unix seconds, on a whole minute."""

    @property
    def days(self) -> tuple[str, str]:
        """The first and last day, as the daily sums write them."""
        first = self.first.isoformat() if self.first else ""
        return first, self.last.isoformat() if self.last else "9999-12-31"


def named_period(name: str, now: float, known: tuple[str, ...] = STATS) -> Period:
    """Return the period of a name; a number of days ends with today. Raises BadRequest."""
    if name not in known:
        raise BadRequest("Invalid period")
    if name == ALL:
        return Period()
    if name == LAST_DAY_HOURS:
        # The running minute is included, so that the period ends on a whole minute too.
        return Period(since=(now // MINUTE + 1) * MINUTE - 24 * HOUR)
    return Period(first=local_day(now) - (DAYS[name] - 1) * DAY)


def read_period(period: str | None, start: str | None, end: str | None, now: float) -> Period:
    """Read a named period, or the days from ``start`` to ``end``. Raises BadRequest."""
    if start is None and end is None:
        return named_period(period or USUAL, now)
    first, last = (calendar_day(text) if text else None for text in (start, end))
    if first is None or last is None:
        raise BadRequest("startDate and endDate belong together")
    if last < first:
        raise BadRequest("startDate must not be after endDate")
    return Period(first, last)


def calendar_day(text: str) -> date:
    """Read a date as ``YYYY-MM-DD``. Raises BadRequest."""
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise BadRequest("Invalid date: write it as YYYY-MM-DD")


def midnight(day: date, zone: tzinfo | None = None) -> float:
    """Return when a local day begins, in Unix seconds."""
    return datetime.combine(day, time.min, zone).timestamp()


def day_start(day: date) -> str:
    """Return when a local day begins, as the ledger writes times."""
    return iso(midnight(day))


def hours(since: float, until: float) -> Iterator[float]:
    """Yield the start of each hour between two times."""
    while since < until:
        yield since
        since += HOUR


def every_day(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY
