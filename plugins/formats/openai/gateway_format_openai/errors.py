"""Errors: a vendor's, however it words them, and ours, as clients of this dialect expect them."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core import GatewayError, UpstreamError
from gateway_formats import hints

from ._members import UNREADABLE, encode

_anything = msgspec.json.Decoder()

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    429: "rate_limit_error",
}

_CODES = {
    400: "bad_request",
    401: "invalid_api_key",
    402: "payment_required",
    403: "insufficient_quota",
    404: "model_not_found",
    406: "model_not_supported",
    429: "rate_limit_exceeded",
    500: "internal_server_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}


def write_error(error: GatewayError, request_id: str) -> bytes:
    """The whole body; ``request_id`` is the gateway's own."""
    members = _said(error)
    members["request_id"] = request_id
    theirs = error.request_id if isinstance(error, UpstreamError) else None
    if theirs and theirs != request_id:
        members["upstream_request_id"] = theirs
    return encode({"error": members})


def _said(error: GatewayError) -> dict[str, Any]:
    if not isinstance(error, UpstreamError):
        kind: str = error.type
        place = error.param
        return {"message": error.message, "type": kind, "param": place, "code": error.code}
    return failure_members(error.message, error.status, error.kind, error.code)


def failure_members(
    message: str, status: int, kind: str | None, code: str | None
) -> dict[str, Any]:
    """An upstream failure; what the vendor did not name is named after the status."""
    usual = "server_error" if status >= 500 else "invalid_request_error"
    if code == UpstreamError.code and status != 502:
        code = None  # the class's own code, which only says something about a 502
    return {
        "message": message,
        "type": kind or _TYPES.get(status, usual),
        "param": None,
        "code": code or _CODES.get(status),
    }


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """A refusal with an error status."""
    value = _value(body)
    found = error_in(value)
    if found is None:
        return UpstreamError(
            hints.first_line(hints.plain_text(body)) or f"The upstream answered {status}",
            status=status,
            request_id=_request_id({}, headers),
            retry_after=hints.retry_after(headers),
        )
    message, kind, code, inner = found
    outer = value if isinstance(value, dict) else {}
    return UpstreamError(
        message,
        status=status,
        kind=kind,
        code=code,
        request_id=_request_id({**outer, **inner}, headers),
        retry_after=_known(hints.retry_after(headers), _hinted(inner, message, headers)),
    )


def read_failure(body: bytes, status: int = 502) -> UpstreamError | None:
    """An error that came where an answer was due, or ``None`` when this is none."""
    value = _value(body)
    found = error_in(value)
    if found is None:
        return None
    message, kind, code, inner = found
    outer = value if isinstance(value, dict) else {}
    return UpstreamError(
        message,
        status=_status(inner, status),
        kind=kind,
        code=code,
        request_id=_request_id({**outer, **inner}, {}),
        retry_after=_hinted(inner, message, {}),
    )


def _value(body: bytes) -> Any:
    try:
        value = _anything.decode(body)
    except UNREADABLE:
        return None
    return value[0] if isinstance(value, list) and value else value


def error_in(value: Any) -> tuple[str, str | None, str | None, dict[str, Any]] | None:
    """Message, kind, code and the error's own members, from any of the shapes in use."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if isinstance(error, str) and error:
        return _cut(error), _text(value.get("type")), _word(value.get("code")), value
    if not isinstance(error, dict):
        error = value
    message = _message(error)
    if message is None:
        return None
    return _cut(message), _text(error.get("type")), _word(error.get("code")), error


def _message(error: dict[str, Any]) -> str | None:
    for name in ("message", "detail", "msg", "error", "errors"):
        said = error.get(name)
        if isinstance(said, dict | list):
            said = _nested(said)
        if isinstance(said, str) and said:
            return _explained(said, error.get("metadata"))
    return None


def _nested(said: Any) -> str | None:
    """The first message in a validation error's list of them."""
    if isinstance(said, list):
        said = said[0] if said else None
    return _message(said) if isinstance(said, dict) else said if isinstance(said, str) else None


def _explained(message: str, metadata: Any) -> str:
    """A router says that its vendor failed and keeps the vendor's own words beside it."""
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str) or not raw:
        return message
    found = error_in(_value(raw.encode(errors="replace")))
    return f"{message}: {found[0] if found else raw}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _word(value: object) -> str | None:
    """A code that says more than the status does."""
    return value if isinstance(value, str) and value and not value.isdigit() else None


def _cut(message: str) -> str:
    return hints.first_line(message) or "The upstream failed"


def _status(error: dict[str, Any], default: int) -> int:
    for name in ("status_code", "status", "code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if type(value) is int and 400 <= value < 600:
            return value
    return default


def _request_id(members: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    return hints.request_id(headers, members.get("upstream_request_id"), members.get("request_id"))


def _hinted(error: dict[str, Any], message: str, headers: Mapping[str, str]) -> float | None:
    """When to come back, from the body: a retry detail, a reset time or the message itself."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        found = _DELAY.fullmatch(delay) if isinstance(delay, str) else None
        if found:
            return hints.parse_seconds(found[1])
    return _known(_until_reset(error, headers), hints.parse_wait(message))


def _known(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _until_reset(error: dict[str, Any], headers: Mapping[str, str]) -> float | None:
    metadata = error.get("metadata")
    limits = metadata.get("headers") if isinstance(metadata, dict) else None
    reset = str(limits.get("X-RateLimit-Reset")) if isinstance(limits, dict) else ""
    now = hints.parse_date(headers.get("date"))
    if not reset.isdecimal() or now is None:
        return None
    return max(0.0, int(reset[:15]) / 1000 - now.timestamp())
