"""Cohere's refusals as errors.

A body is ``{"message": …, "id": …}``, now and then with an ``error_type``.
"""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import UpstreamError

from .shapes import BROKEN

_LONGEST = 500
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_ID_HEADERS = ("x-request-id", "request-id", "x-debug-trace-id")


class _Body(Struct):
    message: Any = None
    id: Any = None
    error_type: Any = None


_decode = msgspec.json.Decoder(_Body).decode


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    said = _said(body)
    ids = (*(headers.get(name) for name in _ID_HEADERS), said.id)
    return UpstreamError(
        _first_line(said.message) or f"The upstream answered with status {status}",
        status=status,
        kind=said.error_type if isinstance(said.error_type, str) else None,
        request_id=next((id for id in ids if isinstance(id, str) and _ID.fullmatch(id)), None),
        retry_after=_retry_after(headers),
    )


def _said(body: bytes) -> _Body:
    try:
        return _decode(body)
    except BROKEN:
        text = body[: 4 * _LONGEST].decode("utf-8", "replace")
        return _Body(message=None if text.lstrip().startswith("<") else text)


def _first_line(message: Any) -> str:
    text = message if isinstance(message, str) else ""
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
