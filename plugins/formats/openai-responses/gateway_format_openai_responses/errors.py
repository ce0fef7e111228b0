"""Errors, both ways."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import GatewayError, ReplyFailed, UpstreamError
from gateway_formats import hints

from ._dialect import BROKEN, NULL

# https://platform.openai.com/docs/guides/error-codes/api-errors
_STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "server_is_overloaded": 503,
    "overloaded_error": 503,
    "slow_down": 503,
    "server_error": 500,
}
"""What status an error would have had that came inside an answer."""

_TYPES = {
    400: ("invalid_request_error", "bad_request"),
    401: ("authentication_error", "invalid_api_key"),
    402: ("billing_error", "payment_required"),
    403: ("permission_error", "insufficient_quota"),
    404: ("invalid_request_error", "model_not_found"),
    406: ("invalid_request_error", "model_not_supported"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    500: ("server_error", "internal_server_error"),
    502: ("server_error", "bad_gateway"),
    503: ("server_error", "service_unavailable"),
    504: ("server_error", "gateway_timeout"),
}
"""Type and code by status, for an error of a vendor that says neither."""

_encode = msgspec.json.Encoder().encode
_any = msgspec.json.Decoder()


class Failure(Struct):
    """An error as it stands in an event or in a failed answer; every member may be missing."""

    message: Any = None
    type: Any = None
    code: Any = None
    error: Raw = NULL


_failure = msgspec.json.Decoder(Failure)


def write_error(error: GatewayError, request_id: str) -> bytes:
    kind, code = error.type, error.code
    # A vendor's error keeps the vendor's type and code where it has any.
    if isinstance(error, UpstreamError):
        kind, code = _complete_type(error.status, error.kind, error.code)
    elif error.status != type(error).status:  # The status is the vendor's.
        kind, code = _complete_type(error.status, None, error.code)
    members: dict[str, Any] = {"message": error.message, "type": kind, "param": error.param}
    members |= {"code": code, "request_id": request_id}
    upstream = error.request_id if isinstance(error, UpstreamError) else None
    if upstream and upstream != request_id:
        members["upstream_request_id"] = upstream
    return _encode({"error": members})


def _complete_type(status: int, kind: str | None, code: str | None) -> tuple[str, str]:
    usual = "server_error" if status >= 500 else "invalid_request_error"
    by_status = _TYPES.get(status, (usual, ""))
    own = code if code and code != UpstreamError.code else None
    return kind or by_status[0], own or by_status[1]


def write_failure(failure: ReplyFailed, number: int) -> bytes:
    """The data of an ``error`` event.

    The members stand both at the top, as the reference has them, and in
    ``error``, as the vendor sends them and its own library looks for them.
    """
    kind, code = _complete_type(failure.status, failure.kind, failure.code)
    members = {"type": kind, "code": code, "message": failure.message, "param": None}
    event = {**members, "type": "error", "sequence_number": number, "error": members}
    return _encode(event)


# The values of code: https://platform.openai.com/docs/api-reference/responses/object
FAILURES = frozenset(
    {
        *("server_error", "rate_limit_exceeded", "invalid_prompt", "data_residency_mismatch"),
        *("bio_policy", "misalignment_policy_violation", "vector_store_timeout", "invalid_image"),
        *("invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large"),
        *("image_too_small", "image_parse_error", "image_content_policy_violation"),
        *("invalid_image_mode", "image_file_too_large", "unsupported_image_media_type"),
        *("empty_image_file", "failed_to_download_image", "image_file_not_found"),
    }
)
"""The codes that the ``error`` of a failed answer may have."""

ACTED_ON = frozenset(
    [
        "context_length_exceeded",
        "insufficient_quota",
        "server_is_overloaded",
        "slow_down",
        "usage_not_included",
    ]
)
"""Codes that the vendor sends too, though its reference leaves them out. Agent
programs look for them to decide whether to try again."""


def write_failed(failure: ReplyFailed) -> bytes:
    """The ``error`` of a failed answer."""
    _, code = _complete_type(failure.status, failure.kind, failure.code)
    # The reference closes this list, and the vendor's own library insists on it.
    code = code if code in FAILURES or code in ACTED_ON else "server_error"
    return _encode({"code": code, "message": failure.message})


def read_failure(raw: bytes | Raw) -> ReplyFailed:
    """An error event, flat or nested, or the ``error`` of an answer. Raises MsgspecError."""
    failure = _failure.decode(raw)
    if failure.error != NULL:
        nested = _any.decode(failure.error)
        if isinstance(nested, str):
            return ReplyFailed(hints.first_line(nested) or _NO_MESSAGE)
        failure = _failure.decode(failure.error)
    kind, code = _as_text(failure.type), _as_text(failure.code)
    # The type of a flat error event is the event's own name, not a kind of error.
    kind = None if kind == "error" else kind
    # The response itself had status 200, so the error's code tells the status.
    status = (
        _STATUSES.get(code or "")
        or _STATUSES.get(kind or "")
        or (failure.code if isinstance(failure.code, int) and 400 <= failure.code < 600 else None)
        or 502
    )
    message = hints.first_line(_as_text(failure.message) or "") or code or _NO_MESSAGE
    return ReplyFailed(message, kind, code, status, hints.parse_wait(message))


_NO_MESSAGE = "The upstream failed without a reason"


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    inner, outer = _error_objects(body)
    message = _message(inner) or _message(outer) or hints.first_line(hints.plain_text(body))
    wait = hints.retry_after(headers)
    # A gateway of this kind upstream repeats the vendor's id in the body.
    names = ("upstream_request_id", "request_id")
    ids = (members.get(name) for members in (inner, outer) for name in names)
    return UpstreamError(
        message or f"The upstream answered {status}",
        status=status,
        kind=_as_text(inner.get("type")),
        code=_as_text(inner.get("code")),
        request_id=hints.request_id(headers, *ids),
        retry_after=hints.parse_wait(message) if wait is None else wait,
    )


def _error_objects(body: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The error object and the object around it, empty where there is none."""
    try:
        outer = _any.decode(body)
    except BROKEN:
        return {}, {}
    # Some gateways wrap the error object in an array.
    if isinstance(outer, list) and outer:
        outer = outer[0]
    if not isinstance(outer, dict):
        return {}, {}
    inner = outer.get("error")
    if isinstance(inner, str):
        return {**outer, "message": inner}, outer
    return (inner, outer) if isinstance(inner, dict) else (outer, outer)


def _message(members: Mapping[str, Any]) -> str:
    for name in ("message", "detail", "error_description", "error"):
        value = members.get(name)
        if isinstance(value, str) and value.strip():
            return hints.first_line(value)
        # Validation errors of some compatible servers are an array under detail.
        if isinstance(value, list | dict) and name != "error" and value:
            return hints.first_line(_encode(value).decode())
    return ""


def _as_text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


def error_frame(failure: ReplyFailed, number: int) -> bytes:
    return b"event: error\ndata: %b\n\n" % write_failure(failure, number)
