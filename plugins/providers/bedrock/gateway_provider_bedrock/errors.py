"""Bedrock's refusals and exceptions as errors.

A body is ``{"message": …}``; the kind of the error stands in a header, or in
the frame that breaks a stream off.

Reference: https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
"""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import msgspec

from gateway_core import UpstreamError

from .shapes import BROKEN, Fault

_LONGEST = 500
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_STATUSES = {
    "throttlingexception": 429,
    "modelnotreadyexception": 429,
    "validationexception": 400,
    "accessdeniedexception": 403,
    "resourcenotfoundexception": 404,
    "modeltimeoutexception": 408,
    "modelerrorexception": 424,
    "modelstreamerrorexception": 424,
    "internalserverexception": 500,
    "serviceunavailableexception": 503,
}

_decode = msgspec.json.Decoder(Fault).decode


def status_of(kind: str) -> int:
    """The status an exception would have had before the stream began."""
    return _STATUSES.get(kind.lower(), 502)


def text_of(fault: Fault) -> str | None:
    said = fault.message if fault.message is not None else fault.Message
    return said if isinstance(said, str) and said else None


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    id = headers.get("x-amzn-requestid")
    return UpstreamError(
        _first_line(_text(body)) or f"The upstream answered with status {status}",
        status=status,
        kind=_kind(headers),
        request_id=id if id is not None and _ID.fullmatch(id) else None,
        retry_after=_retry_after(headers),
    )


def _kind(headers: Mapping[str, str]) -> str | None:
    """``ThrottlingException:http://…`` names a kind and where it is explained."""
    return headers.get("x-amzn-errortype", "").partition(":")[0] or None


def _text(body: bytes) -> str:
    try:
        return text_of(_decode(body)) or ""
    except BROKEN:
        text = body[: 4 * _LONGEST].decode("utf-8", "replace")
        return "" if text.lstrip().startswith("<") else text


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from either header; a date counts from the answer's own ``date``."""
    exact = _seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    said = headers.get("retry-after")
    seconds = _seconds(said)
    return seconds if seconds is not None else _until(said, headers.get("date"))


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(then: str | None, now: str | None) -> float | None:
    try:
        wait = parsedate_to_datetime(then or "") - parsedate_to_datetime(now or "")
    except (TypeError, ValueError):
        return None
    return max(0.0, wait.total_seconds())
