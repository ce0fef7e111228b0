"""Errors: the gateway's written in this format, and a vendor's read from it."""

from collections.abc import Mapping

from gateway_core import GatewayError, UpstreamError
from gateway_formats.hints import first_line, plain_text, request_id, retry_after

from ._wire_types import UNREADABLE, Failed, decode_answer, encode


def write_error(error: GatewayError, id: str) -> bytes:
    """Write the same object in a body and in a stream; a vendor's own kind comes first."""
    kind = error.kind if isinstance(error, UpstreamError) else None
    return encode(Failed(error.message, kind or error.type, id))


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read any bytes as an error with this status."""
    try:
        answer = decode_answer(body)
    except UNREADABLE:
        answer = None
    error = answer if isinstance(answer, Failed) else Failed(plain_text(body))
    return UpstreamError(
        first_line(error.message) or f"The upstream answered with status {status}",
        status=status,
        kind=error.kind,
        request_id=request_id(headers),
        retry_after=retry_after(headers),
    )
