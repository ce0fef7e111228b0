"""Errors, both ways, whole and inside a stream.

https://ai.google.dev/gemini-api/docs/troubleshooting and
https://cloud.google.com/apis/design/errors
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


class ErrorObject(Struct):
    code: Any = None
    message: Any = None
    status: Any = None
    details: Any = None
    request_id: Any = None
    upstream_request_id: Any = None


class ErrorBody(Struct):
    error: ErrorObject | str | None = None
    message: Any = None
    request_id: Any = None


_decode_error = msgspec.json.Decoder(ErrorObject).decode
_decode_body = msgspec.json.Decoder(ErrorBody | list[ErrorBody]).decode


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """The vendor's error response; never fails, whatever the body holds."""
    try:
        content: ErrorBody | list[ErrorBody] = _decode_body(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        content = ErrorBody()
    if isinstance(content, list):
        # A stream that fails at its start gives a list of one.
        content = content[0] if content else ErrorBody()
    error = content.error
    if not isinstance(error, ErrorObject):
        error = ErrorObject(message=error)
    message = _text(error.message) or _text(content.message) or hints.plain_text(body)
    reason = _find_detail(error.details, _REASON, "reason")
    return UpstreamError(
        hints.first_line(message) or f"The upstream answered with status {status}",
        # The vendor calls a bad key a bad request, and it is the operator's key, not the client's.
        status=401 if reason == _BAD_KEY else status,
        kind=_text(error.status),
        code=reason or _text(error.status),
        request_id=hints.request_id(
            headers, error.upstream_request_id, error.request_id, content.request_id
        ),
        retry_after=hints.retry_after(headers) or _read_delay(error, message),
    )


def read_error_object(raw: Raw) -> UpstreamError:
    """An error that came where an answer should be. Raises MsgspecError for an invalid one."""
    error = _decode_error(raw)
    message = _text(error.message) or ""
    return UpstreamError(
        hints.first_line(message) or "The upstream failed",
        status=error.code if isinstance(error.code, int) else 502,
        kind=_text(error.status),
        code=_find_detail(error.details, _REASON, "reason") or _text(error.status),
        retry_after=_read_delay(error, message),
    )


def write_error(error: GatewayError, request_id: str) -> bytes:
    kind = error.kind if isinstance(error, UpstreamError) else None
    members = _write_members(error.message, error.status, kind, error.retry_after, error.code)
    members["request_id"] = request_id
    upstream_id = error.request_id if isinstance(error, UpstreamError) else None
    if hints.request_id({}, upstream_id) not in (None, request_id):
        members["upstream_request_id"] = upstream_id
    return msgspec.json.encode({"error": members})


def write_late_error(body: bytes) -> bytes:
    """An error response as the only frame of a stream."""
    return b"data: %b\r\n\r\n" % escape_line_separators(body)


def write_error_frame(failure: ReplyFailed) -> bytes:
    """The frame that ends a broken stream."""
    members = _write_members(
        failure.message, failure.status, failure.kind, failure.retry_after, failure.code
    )
    return b"data: %b\r\n\r\n" % msgspec.json.encode({"error": members})


def _write_members(
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
    members: dict[str, Any] = {"code": status, "message": message, "status": word}
    return {**members, "details": details} if details else members


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _find_detail(details: object, kind: str, name: str) -> str | None:
    """A member of the first detail of a kind; https://google.aip.dev/193"""
    for row in details if isinstance(details, list) else ():
        if isinstance(row, dict) and row.get("@type") == kind:
            return _text(row.get(name))
    return None


def _read_delay(error: ErrorObject, message: str) -> float | None:
    delay = _find_detail(error.details, _DELAY, "retryDelay")
    if delay is not None:
        return hints.parse_seconds(delay.removesuffix("s"))
    match = _RETRY.search(message)
    return hints.parse_seconds(match[1]) if match else None
