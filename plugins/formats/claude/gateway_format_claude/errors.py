"""Errors, both ways, whole and inside a stream.

https://docs.anthropic.com/en/api/errors
"""

from collections.abc import Mapping

import msgspec

from gateway_core import GatewayError, ReplyFailed, UpstreamError
from gateway_formats import hints

from ._dialect import Unreadable, encode
from ._frames import write_event

UNREADABLE = "The upstream gave an answer that could not be read"
SECOND_ANSWER = "The upstream began a second answer inside the first"

_TYPE_OF_STATUS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_STATUS_OF_TYPE: Mapping[str, int] = {
    **{word: status for status, word in _TYPE_OF_STATUS.items()},
    "api_error": 500,
}

_decode = msgspec.json.Decoder().decode


def write_error(error: GatewayError, request_id: str) -> bytes:
    """The body of an error response."""
    kind = error.kind if isinstance(error, UpstreamError) else None
    # A vendor's refusal of the request has its own type, so the general code would add nothing.
    is_general = isinstance(error, UpstreamError) and error.code == UpstreamError.code
    code = None if is_general and error.status < 500 else error.code
    body: dict[str, object] = {
        "type": "error",
        "error": _write_members(kind, error.status, error.message, code),
        "request_id": request_id,
    }
    upstream_id = error.request_id if isinstance(error, UpstreamError) else None
    if upstream_id and upstream_id != request_id:
        body["upstream_request_id"] = upstream_id
    return encode(body)


def write_error_frame(failure: ReplyFailed) -> bytes:
    """The event that ends a broken stream."""
    error = _write_members(failure.kind, failure.status, failure.message, failure.code)
    return write_event({"type": "error", "error": error})


def _write_members(kind: str | None, status: int, message: str, code: str | None) -> dict[str, str]:
    if kind is None or kind not in _STATUS_OF_TYPE:
        usual = "invalid_request_error" if 400 <= status < 500 else "api_error"
        kind = _TYPE_OF_STATUS.get(status, usual)
    error = {"type": kind, "message": message}
    if code is not None:
        error["code"] = code
    return error


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """A vendor's error response; never fails, whatever the body holds."""
    try:
        content = _decode(body)
    except Unreadable:
        content = None
    error = _read_body(content, status) if isinstance(content, dict) else None
    if error is None:
        error = UpstreamError(f"The upstream answered with status {status}", status=status)
    # The vendor names the request in the body and in the header ``request-id``; the body wins.
    if error.request_id is None:
        error.request_id = hints.request_id(headers)
    error.retry_after = hints.retry_after(headers)
    return error


def find_error(body: bytes) -> UpstreamError | None:
    """The error in the body of a response with status 200, if there is one."""
    try:
        content = _decode(body)
    except Unreadable:
        return None
    if not isinstance(content, dict) or "content" in content or "error" not in content:
        return None
    return _read_body(content, None)


def read_failure(data: bytes) -> ReplyFailed:
    """The failure that an error event in a stream reports."""
    error = find_error(data) or UpstreamError("The upstream broke off with an error")
    code = None if error.code == UpstreamError.code else error.code
    return ReplyFailed(error.message, error.kind, code, error.status)


def _read_body(body: dict[str, object], status: int | None) -> UpstreamError | None:
    # Vendors of this wire also send {"error": "text"}, {"message": …} and {"detail": …}.
    inner = body.get("error")
    detail = inner if isinstance(inner, dict) else body
    candidates = (detail.get("message"), inner, body.get("message"), body.get("detail"))
    texts = (text for text in candidates if isinstance(text, str) and text.strip())
    message = next(texts, None)
    kind = _read_word(detail.get("type"))
    if message is None and kind is None:
        return None
    if status is None:
        status = _STATUS_OF_TYPE.get(kind or "", 502)
    names = ("upstream_request_id", "request_id")
    ids = [place.get(name) for place in (detail, body) for name in names]
    return UpstreamError(
        hints.first_line(message or f"The upstream answered with {kind}"),
        status=status,
        kind=None if kind == "error" else kind,
        code=_read_word(detail.get("code")),
        request_id=hints.request_id({}, *ids),
    )


def _read_word(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None
