"""Bedrock's refusals and exceptions as errors.

A body is ``{"message": …}``; the kind of the error stands in a header, or in
the frame that breaks a stream off.

Reference: https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
"""

from collections.abc import Mapping

import msgspec

from gateway_core import UpstreamError
from gateway_formats.hints import LONGEST_MESSAGE, first_line, request_id, retry_after

from ._shapes import BROKEN, Fault

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
_STATUSES = {
    "throttlingexception": 429,
    "modelnotreadyexception": 429,
    "validationexception": 400,
    "accessdeniedexception": 403,
    "resourcenotfoundexception": 404,
    "modeltimeoutexception": 408,
    "modelerrorexception": 424,
    "modelstreamerrorexception": 424,
    "internalserverexception": 500,
    "serviceunavailableexception": 503,
}

_decode = msgspec.json.Decoder(Fault).decode


def status_of(kind: str) -> int:
    """The status an exception would have had before the stream began."""
    return _STATUSES.get(kind.lower(), 502)


def text_of(fault: Fault) -> str | None:
    # Services spell the key in either way.
    message = fault.message if fault.message is not None else fault.Message
    return message if isinstance(message, str) and message else None


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    # The header reads ``ThrottlingException:http://…``: the kind and where it is explained.
    kind = headers.get("x-amzn-errortype", "").partition(":")[0] or None
    try:
        text = text_of(_decode(body)) or ""
    except BROKEN:
        text = body[: 4 * LONGEST_MESSAGE].decode("utf-8", "replace")
        # A page of HTML comes from a proxy and tells a client nothing.
        text = "" if text.lstrip().startswith("<") else text
    return UpstreamError(
        first_line(text) or f"The upstream answered with status {status}",
        status=status,
        kind=kind,
        request_id=request_id(headers, names=("x-amzn-requestid",)),
        retry_after=retry_after(headers),
    )
