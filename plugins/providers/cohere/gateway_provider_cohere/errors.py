"""Cohere's refusals as errors.

A body is ``{"message": …, "id": …}``, now and then with an ``error_type``.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import UpstreamError
from gateway_formats.hints import LONGEST_MESSAGE, first_line, request_id, retry_after

from ._shapes import BROKEN

# Any of these may carry the request's id.
_ID_HEADERS = ("x-request-id", "request-id", "x-debug-trace-id")


class _Body(Struct):
    message: Any = None
    id: Any = None
    error_type: Any = None


_decode = msgspec.json.Decoder(_Body).decode


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    try:
        content = _decode(body)
    except BROKEN:
        # A proxy's page is HTML, not JSON; it tells a client nothing.
        text = body[: 4 * LONGEST_MESSAGE].decode("utf-8", "replace")
        content = _Body(message=None if text.lstrip().startswith("<") else text)
    message = content.message if isinstance(content.message, str) else ""
    return UpstreamError(
        first_line(message) or f"The upstream answered with status {status}",
        status=status,
        kind=content.error_type if isinstance(content.error_type, str) else None,
        request_id=request_id(headers, names=_ID_HEADERS) or request_id({}, content.id),
        retry_after=retry_after(headers),
    )
