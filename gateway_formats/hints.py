"""What a vendor's refusal says: when to come back, its own id, and a line worth quoting."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_MESSAGE = 500
ID_HEADERS = (
    "x-upstream-request-id",
    "request-id",
    "x-request-id",
    "x-correlation-id",
    "apim-request-id",
)
_LONGEST_WAIT = 1e9
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_WAIT = re.compile(
    r"try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s|\s*seconds?))?", re.IGNORECASE
)


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
    """A number of seconds, or ``None`` for anything that no one could wait for."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < _LONGEST_WAIT else None


def moment(text: str | None) -> datetime | None:
    """The time in a header such as ``date``; one that names no zone is UTC."""
    try:
        found = parsedate_to_datetime(text or "")
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _until(said: str | None, date: str | None) -> float | None:
    then, now = moment(said), moment(date)
    return max(0.0, (then - now).total_seconds()) if then and now else None


def wait_in_words(message: str) -> float | None:
    """The seconds that a message itself names, such as ``try again in 1m30.5s``."""
    found = _WAIT.search(message)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest, unit = found.groups()
    last = float(rest or 0) / (1000 if unit and unit.lower() == "ms" else 1)
    wait = float(hours or 0) * 3600 + float(minutes or 0) * 60 + last
    return wait if wait < _LONGEST_WAIT else None


def request_id(
    headers: Mapping[str, str], *said: object, names: tuple[str, ...] = ID_HEADERS
) -> str | None:
    """The vendor's id of a request: what its body ``said`` first, then the headers of ``names``."""
    found = (*said, *(headers.get(name) for name in names))
    return next((each for each in found if isinstance(each, str) and _ID.fullmatch(each)), None)


def first_line(text: str) -> str:
    """The first line of a message, at most 500 characters."""
    return next(iter(text.strip().splitlines()), "").rstrip()[:LONGEST_MESSAGE]


def plain_text(body: bytes) -> str:
    """The start of a body that is a sentence, as a proxy sends; empty for a page or for JSON."""
    text = body[: 4 * LONGEST_MESSAGE].decode("utf-8", "replace").strip()
    return "" if text.startswith(("<", "{", "[")) else text
