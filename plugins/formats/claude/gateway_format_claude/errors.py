"""Errors, both ways, whole and inside a stream."""

from collections.abc import Mapping

import msgspec

from gateway_core import GatewayError, ReplyFailed, UpstreamError
from gateway_formats import hints

from ._dialect import Unreadable, encode
from ._frames import event_frame

UNREADABLE = "The upstream gave an answer that could not be read"

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
    """The body of an error answer."""
    kind = error.kind if isinstance(error, UpstreamError) else None
    body: dict[str, object] = {
        "type": "error",
        "error": _error(kind, error.status, error.message, _code(error)),
        "request_id": request_id,
    }
    theirs = error.request_id if isinstance(error, UpstreamError) else None
    if theirs and theirs != request_id:
        body["upstream_request_id"] = theirs
    return encode(body)


def error_frame(failure: ReplyFailed) -> bytes:
    """The event that ends a broken stream."""
    error = _error(failure.kind, failure.status, failure.message, failure.code)
    return event_frame({"type": "error", "error": error})


def _error(kind: str | None, status: int, message: str, code: str | None) -> dict[str, str]:
    word = kind if kind in _STATUS_OF_TYPE else _type_of(status)
    error = {"type": word or "api_error", "message": message}
    if code is not None:
        error["code"] = code
    return error


def _type_of(status: int) -> str:
    usual = "invalid_request_error" if 400 <= status < 500 else "api_error"
    return _TYPE_OF_STATUS.get(status, usual)


def _code(error: GatewayError) -> str | None:
    """The condition's code, unless it is the one every vendor error begins with."""
    unspecific = isinstance(error, UpstreamError) and error.code == UpstreamError.code
    return None if unspecific and error.status < 500 else error.code


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """A vendor's error answer, whatever it looks like."""
    try:
        said = _decode(body)
    except Unreadable:
        said = None
    error = _of_body(said, status) if isinstance(said, dict) else None
    if error is None:
        error = UpstreamError(f"The upstream answered with status {status}", status=status)
    if error.request_id is None:
        error.request_id = hints.request_id(headers)
    error.retry_after = hints.retry_after(headers)
    return error


def error_in(body: bytes) -> UpstreamError | None:
    """The error in the body of an answer that claims success, if there is one."""
    try:
        said = _decode(body)
    except Unreadable:
        return None
    if not isinstance(said, dict) or "content" in said or "error" not in said:
        return None
    return _of_body(said, None)


def failure_in(data: bytes) -> ReplyFailed:
    """The failure that an error event in a stream tells of."""
    error = error_in(data) or UpstreamError("The upstream broke off with an error")
    code = None if error.code == UpstreamError.code else error.code
    return ReplyFailed(error.message, error.kind, code, error.status)


def _of_body(body: dict[str, object], status: int | None) -> UpstreamError | None:
    inner = body.get("error")
    detail = inner if isinstance(inner, dict) else body
    message = next(
        (
            text
            for text in (detail.get("message"), inner, body.get("message"), body.get("detail"))
            if isinstance(text, str) and text.strip()
        ),
        None,
    )
    kind = _word(detail.get("type"))
    if message is None and kind is None:
        return None
    if status is None:
        status = _STATUS_OF_TYPE.get(kind or "", 502)
    return UpstreamError(
        hints.first_line(message or f"The upstream answered with {kind}"),
        status=status,
        kind=None if kind == "error" else kind,
        code=_word(detail.get("code")),
        request_id=hints.request_id({}, *_ids(detail, body)),
    )


def _ids(*places: dict[str, object]) -> list[object]:
    return [place.get(name) for place in places for name in ("upstream_request_id", "request_id")]


def _word(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None
