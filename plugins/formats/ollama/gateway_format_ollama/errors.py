"""Errors: ours as this dialect words them, and the server's as ours."""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import GatewayError, UpstreamError

from .lines import failure_of
from .members import BROKEN

_LONGEST = 500
_ID_HEADERS = ("x-request-id", "request-id", "x-correlation-id")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class _Body(Struct):
    error: Any = None


_decode = msgspec.json.Decoder(_Body).decode
_encode = msgspec.json.encode


def write_error(error: GatewayError, request_id: str) -> bytes:
    body = {"error": error.message, "request_id": request_id}
    upstream = error.request_id if isinstance(error, UpstreamError) else None
    if upstream is not None and upstream != request_id:
        body["upstream_request_id"] = upstream
    return _encode(body)


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    return UpstreamError(
        _message(body) or f"The upstream answered with status {status}",
        status=status,
        request_id=_request_id(headers),
        retry_after=_retry_after(headers),
    )


def _message(body: bytes) -> str:
    """The first line of the server's sentence, or of a body that is no JSON, as a proxy sends."""
    try:
        error = _decode(body).error
        text = failure_of(error).message if error is not None else ""
    except BROKEN:
        text = body[: 4 * _LONGEST].decode("utf-8", "replace")
        text = "" if text.lstrip().startswith("<") else text
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def _request_id(headers: Mapping[str, str]) -> str | None:
    found = (headers[name] for name in _ID_HEADERS if name in headers)
    return next((id for id in found if _ID.fullmatch(id)), None)


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
