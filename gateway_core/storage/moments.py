"""Points in time as they are stored: UTC ISO 8601 text with milliseconds.

Texts of this one form sort as the times they name, in any engine.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo

Clock = Callable[[], float]
"""Gives the wall-clock time in seconds since 1970."""


def iso(seconds: float) -> str:
    """Seconds since 1970 as text, such as ``2031-05-06T07:08:09.123Z``."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds(moment: str) -> float:
    """An ISO text with its zone as seconds since 1970. Raises ValueError for anything else."""
    parsed = datetime.fromisoformat(moment)
    if parsed.tzinfo is None:
        raise ValueError(f"{moment} names no time zone")
    return parsed.timestamp()


def local_day(moment: float, zone: tzinfo | None = None) -> date:
    """The calendar day of a moment in a zone; ``None`` is the machine's own."""
    return datetime.fromtimestamp(moment, zone).date()


def next_midnight(moment: float, zone: tzinfo | None = None) -> float:
    """When the local day of a moment is over, seconds since 1970."""
    tomorrow = local_day(moment, zone) + timedelta(days=1)
    return datetime.combine(tomorrow, time.min, zone).timestamp()


def next_month(moment: float, zone: tzinfo | None = None) -> float:
    """When the local month of a moment is over, seconds since 1970."""
    first = (local_day(moment, zone).replace(day=28) + timedelta(days=4)).replace(day=1)
    return datetime.combine(first, time.min, zone).timestamp()
