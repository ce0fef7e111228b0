"""Errors: ours as this dialect words them, and the server's as ours."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import GatewayError, UpstreamError
from gateway_formats.hints import LONGEST_MESSAGE, first_line, retry_after
from gateway_formats.hints import request_id as vendors_id
from gateway_formats.ndjson import escape_line_separators

from ._dialect import BROKEN
from ._lines import failure_of


class _Body(Struct):
    error: Any = None


_decode = msgspec.json.Decoder(_Body).decode
_encode = msgspec.json.encode


def write_error(error: GatewayError, request_id: str) -> bytes:
    # The server's errors are one sentence under error: https://github.com/ollama/ollama/blob/main/docs/api.md
    body = {"error": error.message, "request_id": request_id}
    upstream = error.request_id if isinstance(error, UpstreamError) else None
    if upstream is not None and upstream != request_id:
        body["upstream_request_id"] = upstream
    return _encode(body)


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    try:
        error = _decode(body).error
        text = failure_of(error).message if error is not None else ""
    except BROKEN:
        # A body that is no JSON comes from a proxy; a page of HTML tells a client nothing.
        text = body[: 4 * LONGEST_MESSAGE].decode("utf-8", "replace")
        text = "" if text.lstrip().startswith("<") else text
    return UpstreamError(
        first_line(text) or f"The upstream answered with status {status}",
        status=status,
        request_id=vendors_id(headers),
        retry_after=retry_after(headers),
    )


def error_line(message: str) -> bytes:
    return escape_line_separators(_encode({"error": message})) + b"\n"
