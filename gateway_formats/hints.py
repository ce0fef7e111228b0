"""What an upstream error tells beside its status: when to retry, the request id, a message."""

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


_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_EPOCH = 1e9
"""A number of seconds beyond this is a moment; a thousand times that, one in milliseconds."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from ``retry-after-ms``, ``retry-after`` or the reset of a limit that is used up.

    A date counts from the answer's own ``date``, so that clocks need not agree;
    without one it says nothing.
    """
    # In milliseconds, and more exact than the standard header beside it.
    exact = parse_seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    text = headers.get("retry-after")
    if text is not None:
        # Seconds or a date: RFC 9110, section 10.2.3.
        wait = parse_seconds(text)
        return wait if wait is not None else _until(parse_date(text), headers)
    # Else the longest wait for a limit of which nothing remains:
    # https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
    waits = [
        wait
        for name, left in headers.items()
        if "ratelimit-" in name
        and "remaining" in name
        and left.strip() == "0"
        and (wait := _parse_reset(headers.get(name.replace("remaining", "reset"), ""), headers))
        is not None
    ]
    return max(waits, default=None)


def _parse_reset(text: str, headers: Mapping[str, str]) -> float | None:
    """The wait that a reset header names: ``6m0s``, seconds, seconds since 1970 or RFC 3339."""
    text = text.strip()
    if text.endswith("s"):
        duration = _DURATION.fullmatch(text)
        if duration is None:
            return None
        parts = (float(group or 0) for group in duration.groups())
        days, hours, minutes, whole, thousandths = parts
        wait = ((days * 24 + hours) * 60 + minutes) * 60 + whole + thousandths / 1000
        return wait if wait < _LONGEST_WAIT else None
    try:
        number = float(text)
    except ValueError:
        return _until(_parse_moment(text), headers)
    if number < _EPOCH:
        return parse_seconds(text)
    # Some vendors count milliseconds since 1970.
    since = number / 1000 if number >= _EPOCH * 1000 else number
    return _until(_parse_moment(since), headers)


def _parse_moment(value: str | float) -> datetime | None:
    """A time in RFC 3339, or in seconds since 1970."""
    try:
        if isinstance(value, float):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_seconds(text: str | None) -> float | None:
    """A number of seconds, or ``None`` for anything that no one could wait for."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < _LONGEST_WAIT else None


def parse_date(text: str | None) -> datetime | None:
    """The time in a header such as ``date`` (RFC 9110, section 5.6.7); without a zone it is UTC."""
    try:
        moment = parsedate_to_datetime(text or "")
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _until(then: datetime | None, headers: Mapping[str, str]) -> float | None:
    now = parse_date(headers.get("date"))
    return max(0.0, (then - now).total_seconds()) if then and now else None


def parse_wait(message: str) -> float | None:
    """The seconds that a message itself names, such as ``try again in 1m30.5s``."""
    match = _WAIT.search(message)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, rest, unit = match.groups()
    last = float(rest or 0) / (1000 if unit and unit.lower() == "ms" else 1)
    wait = float(hours or 0) * 3600 + float(minutes or 0) * 60 + last
    return wait if wait < _LONGEST_WAIT else None


def request_id(
    headers: Mapping[str, str], *from_body: object, names: tuple[str, ...] = ID_HEADERS
) -> str | None:
    """The vendor's id of a request: what its body holds first, then the headers of ``names``."""
    ids = (*from_body, *(headers.get(name) for name in names))
    return next((each for each in ids if isinstance(each, str) and _ID.fullmatch(each)), None)


def first_line(text: str) -> str:
    """The first line of a message, at most 500 characters."""
    return next(iter(text.strip().splitlines()), "").rstrip()[:LONGEST_MESSAGE]


def plain_text(body: bytes) -> str:
    """The start of a body that is a sentence, as a proxy sends; empty for a page or for JSON."""
    # Proxies answer with an HTML page as often as with a sentence; a page is no message.
    text = body[: 4 * LONGEST_MESSAGE].decode("utf-8", "replace").strip()
    return "" if text.startswith(("<", "{", "[")) else text
