"""Points in time as they are stored: UTC ISO 8601 text with milliseconds.

Texts of this one form sort as the times they name, in any engine.
"""

from collections.abc import Callable
from datetime import UTC, datetime

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
