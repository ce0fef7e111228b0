"""What a vendor's refusal says besides its message: when to come back, and its own id."""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_MESSAGE = 500
ID_HEADERS = ("x-upstream-request-id", "request-id", "x-request-id", "x-correlation-id")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from ``retry-after-ms`` or ``retry-after``.

    A date counts from the answer's own ``date``, so that clocks need not agree;
    without one it says nothing.
    """
    exact = seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    said = headers.get("retry-after")
    plain = seconds(said)
    return plain if plain is not None else _until(said, headers.get("date"))


def seconds(text: str | None) -> float | None:
    """A number of seconds, or ``None`` for anything but a finite number that is not negative."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(then: str | None, now: str | None) -> float | None:
    try:
        wait = parsedate_to_datetime(then or "") - parsedate_to_datetime(now or "")
    except (TypeError, ValueError):
        return None
    return max(0.0, wait.total_seconds())


def request_id(
    headers: Mapping[str, str], *said: object, names: tuple[str, ...] = ID_HEADERS
) -> str | None:
    """The vendor's id of a request: what its body ``said`` first, then the headers of ``names``."""
    found = (*said, *(headers.get(name) for name in names))
    return next((each for each in found if isinstance(each, str) and _ID.fullmatch(each)), None)


def first_line(text: str) -> str:
    """The first line of a message, at most 500 characters."""
    return next(iter(text.strip().splitlines()), "")[:LONGEST_MESSAGE]
