"""Errors: as the vendor words them, and as this dialect's clients expect them.

The vendor's model: https://cloud.google.com/apis/design/errors
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import GatewayError, ReplyFailed, UpstreamError
from gateway_formats import hints
from gateway_formats.ndjson import escape_line_separators

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_WORDS = frozenset(_STATUSES.values()) | {"OUT_OF_RANGE", "ALREADY_EXISTS", "DATA_LOSS", "UNKNOWN"}
_RETRY = re.compile(r"retry in ([0-9.]+)\s*s", re.IGNORECASE)
_REASON = "type.googleapis.com/google.rpc.ErrorInfo"
_BAD_KEY = "API_KEY_INVALID"
_DELAY = "type.googleapis.com/google.rpc.RetryInfo"


class _Error(Struct):
    code: Any = None
    message: Any = None
    status: Any = None
    details: Any = None
    request_id: Any = None
    upstream_request_id: Any = None


class _Body(Struct):
    error: _Error | str | None = None
    message: Any = None
    request_id: Any = None


_read_error = msgspec.json.Decoder(_Error).decode
_read_body = msgspec.json.Decoder(_Body | list[_Body]).decode


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """The vendor's error answer; never fails, whatever the body holds."""
    told = _body(body)
    error = told.error if isinstance(told.error, _Error) else _Error(message=told.error)
    message = _text(error.message) or _text(told.message) or hints.plain_text(body)
    reason = _reason(error.details)
    return UpstreamError(
        hints.first_line(message) or f"The upstream answered with status {status}",
        # The vendor calls a bad key a bad request, and it is the operator's key, not the client's.
        status=401 if reason == _BAD_KEY else status,
        kind=_text(error.status),
        code=reason or _text(error.status),
        request_id=hints.request_id(
            headers, error.upstream_request_id, error.request_id, told.request_id
        ),
        retry_after=hints.retry_after(headers) or _delay(error, message),
    )


def told_error(raw: Raw) -> UpstreamError:
    """An error that came where an answer should be. Raises MsgspecError for rubbish."""
    error = _read_error(raw)
    status = error.code if isinstance(error.code, int) else 502
    message = _text(error.message) or ""
    return UpstreamError(
        hints.first_line(message) or "The upstream failed",
        status=status,
        kind=_text(error.status),
        code=_reason(error.details) or _text(error.status),
        retry_after=_delay(error, message),
    )


def write_error(error: GatewayError, request_id: str) -> bytes:
    kind = error.kind if isinstance(error, UpstreamError) else None
    told = _told(error.message, error.status, kind, error.retry_after, error.code)
    told["request_id"] = request_id
    upstream = error.request_id if isinstance(error, UpstreamError) else None
    if hints.request_id({}, upstream) not in (None, request_id):
        told["upstream_request_id"] = upstream
    return msgspec.json.encode({"error": told})


def late_error(body: bytes) -> bytes:
    """An error answer as the only frame of a stream."""
    return b"data: %b\r\n\r\n" % escape_line_separators(body)


def failure_json(failure: ReplyFailed) -> bytes:
    """The error that ends a stream."""
    told = _told(failure.message, failure.status, failure.kind, failure.retry_after, failure.code)
    return msgspec.json.encode({"error": told})


def _told(
    message: str, status: int, kind: str | None, retry_after: float | None, code: str | None
) -> dict[str, Any]:
    word = kind if kind in _WORDS else _STATUSES.get(status)
    if word is None:
        word = "INVALID_ARGUMENT" if 400 <= status < 500 else "INTERNAL"
    details: list[dict[str, str]] = []
    if code:
        details.append({"@type": _REASON, "reason": code.upper(), "domain": "gateway"})
    if retry_after is not None:
        details.append({"@type": _DELAY, "retryDelay": f"{retry_after:g}s"})
    told: dict[str, Any] = {"code": status, "message": message, "status": word}
    return {**told, "details": details} if details else told


def _body(body: bytes) -> _Body:
    """The error object; a stream that fails at its start gives a list of one."""
    try:
        told: _Body | list[_Body] = _read_body(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Body()
    if isinstance(told, list):
        return told[0] if told else _Body()
    return told


def _text(said: object) -> str | None:
    return said if isinstance(said, str) and said else None


def _details(details: object, kind: str) -> dict[str, Any]:
    rows = details if isinstance(details, list) else []
    return next((row for row in rows if isinstance(row, dict) and row.get("@type") == kind), {})


def _reason(details: object) -> str | None:
    return _text(_details(details, _REASON).get("reason"))


def _delay(error: _Error, message: str) -> float | None:
    said = _text(_details(error.details, _DELAY).get("retryDelay"))
    if said is not None:
        return hints.parse_seconds(said.removesuffix("s"))
    told = _RETRY.search(message)
    return hints.parse_seconds(told[1]) if told else None
