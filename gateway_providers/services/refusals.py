"""What a vendor's refusal of a service says, in the shapes that are usual for it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core import UpstreamError
from gateway_formats import hints

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_WORDS = (
    *("message", "msg", "detail", "error", "errors"),
    *("error_message", "status_message", "title"),
)
_anything = msgspec.json.Decoder().decode


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """An answer with an error status."""
    try:
        value = _anything(body)
    except UNREADABLE:
        value = None
    error = error_members(value)
    message = words_of(value) or hints.plain_text(body)
    wait = hints.retry_after(headers)
    return UpstreamError(
        hints.first_line(message) or f"The upstream answered {status}",
        status=status,
        kind=_text(error.get("type")),
        code=_text(error.get("code")),
        request_id=hints.request_id(headers),
        retry_after=wait if wait is not None else hints.parse_wait(message),
    )


def error_members(value: Any) -> Mapping[str, Any]:
    """The members of the error in an answer; none where there is none."""
    if not isinstance(value, Mapping):
        return {}
    error = value.get("error")
    return error if isinstance(error, Mapping) else value


def words_of(value: Any, depth: int = 3) -> str:
    """The message in an error, wherever vendors put it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and depth:
        return words_of(value[0], depth - 1)
    if isinstance(value, Mapping) and depth:
        for name in ("error", "detail", *_WORDS):
            words = words_of(value.get(name), depth - 1)
            if words:
                return words
    return ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
