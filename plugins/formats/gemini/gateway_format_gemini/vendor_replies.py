"""Reads a vendor's whole answer.

https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

from msgspec.structs import replace

from gateway_core import Reply, StreamEvent, UpstreamError
from gateway_formats.fold import gather
from gateway_formats.relay import UNREADABLE_EVENT

from ._dialect import DIALECT
from ._json_pieces import split_objects
from ._open_reply import OpenReply

_UNREADABLE = "The upstream gave an answer that could not be read"


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for an invalid body, and for an error that came with status 200."""
    reply = OpenReply()
    events: list[StreamEvent] = []
    try:
        payloads = split_objects(body)
    except ValueError:
        raise UpstreamError(_UNREADABLE) from None
    for payload in payloads:
        events += reply.read(payload)
    try:
        return replace(gather([*events, *reply.end(whole=True)]), dialect=DIALECT)
    except UpstreamError as error:
        raise UpstreamError(
            _UNREADABLE if error.message == UNREADABLE_EVENT else error.message,
            status=error.status,
            kind=error.kind,
            code=error.code,
            retry_after=error.retry_after,
        ) from None
