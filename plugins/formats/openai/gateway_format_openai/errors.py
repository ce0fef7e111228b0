"""Errors: a vendor's, in any of the shapes in use, and ours, as clients of this dialect expect."""

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
    if isinstance(error, UpstreamError):
        members = failure_members(error.message, error.status, error.kind, error.code)
    else:
        # https://platform.openai.com/docs/guides/error-codes
        members = {
            "message": error.message,
            "type": error.type,
            "param": error.param,
            "code": error.code,
        }
    members["request_id"] = request_id
    upstream_id = error.request_id if isinstance(error, UpstreamError) else None
    if upstream_id and upstream_id != request_id:
        members["upstream_request_id"] = upstream_id
    return encode({"error": members})


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
    failure = error_in(value)
    if failure is None:
        return UpstreamError(
            hints.first_line(hints.plain_text(body)) or f"The upstream answered {status}",
            status=status,
            request_id=_request_id({}, headers),
            retry_after=hints.retry_after(headers),
        )
    message, kind, code, inner = failure
    outer = value if isinstance(value, dict) else {}
    wait = hints.retry_after(headers)
    return UpstreamError(
        message,
        status=status,
        kind=kind,
        code=code,
        request_id=_request_id({**outer, **inner}, headers),
        retry_after=wait if wait is not None else _read_wait(inner, message, headers),
    )


def read_failure(body: bytes, status: int = 502) -> UpstreamError | None:
    """An error that came where an answer was due, or ``None`` when this is none."""
    value = _value(body)
    failure = error_in(value)
    if failure is None:
        return None
    message, kind, code, inner = failure
    outer = value if isinstance(value, dict) else {}
    for name in ("status_code", "status", "code"):
        number = inner.get(name)
        if isinstance(number, str) and number.isdigit():
            number = int(number)
        if type(number) is int and 400 <= number < 600:
            status = number
            break
    return UpstreamError(
        message,
        status=status,
        kind=kind,
        code=code,
        request_id=_request_id({**outer, **inner}, {}),
        retry_after=_read_wait(inner, message, {}),
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
        return _first_line(error), _text(value.get("type")), _code(value.get("code")), value
    if not isinstance(error, dict):
        error = value
    message = _message(error)
    if message is None:
        return None
    return _first_line(message), _text(error.get("type")), _code(error.get("code")), error


def _message(error: dict[str, Any]) -> str | None:
    for name in ("message", "detail", "msg", "error", "errors"):
        text = error.get(name)
        if isinstance(text, list):
            text = text[0] if text else None  # the first of a validation error's list
        if isinstance(text, dict):
            text = _message(text)
        if isinstance(text, str) and text:
            # OpenRouter says that its vendor failed and keeps the vendor's answer beside it:
            # https://openrouter.ai/docs/api-reference/errors
            metadata = error.get("metadata")
            raw = metadata.get("raw") if isinstance(metadata, dict) else None
            if not isinstance(raw, str) or not raw:
                return text
            inner = error_in(_value(raw.encode(errors="replace")))
            return f"{text}: {inner[0] if inner else raw}"
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _code(value: object) -> str | None:
    """A code that says more than the status does."""
    return value if isinstance(value, str) and value and not value.isdigit() else None


def _first_line(message: str) -> str:
    return hints.first_line(message) or "The upstream failed"


def _request_id(members: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    return hints.request_id(headers, members.get("upstream_request_id"), members.get("request_id"))


def _read_wait(error: dict[str, Any], message: str, headers: Mapping[str, str]) -> float | None:
    """When to retry, from the body: a retry detail, a reset time or the message itself."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        # google.rpc.RetryInfo, which Gemini's endpoint of this dialect sends:
        # https://cloud.google.com/apis/design/errors#error_details
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DELAY.fullmatch(delay) if isinstance(delay, str) else None
        if match:
            return hints.parse_seconds(match[1])
    metadata = error.get("metadata")
    limits = metadata.get("headers") if isinstance(metadata, dict) else None
    reset = str(limits.get("X-RateLimit-Reset")) if isinstance(limits, dict) else ""
    now = hints.parse_date(headers.get("date"))
    if reset.isdecimal() and now is not None:  # OpenRouter's, in milliseconds since 1970
        return max(0.0, int(reset[:15]) / 1000 - now.timestamp())
    return hints.parse_wait(message)
