"""Read a vendor's whole reply."""

from gateway_core import Reply, StreamEvent, UpstreamError
from gateway_formats.fold import gather

from ._answer import Answer
from ._dialect import BROKEN
from ._lines import decode_line
from .vendor_stream import Reader

UNREADABLE = "The upstream gave an answer that could not be read"


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    events: list[StreamEvent] = []
    try:
        line = decode_line(body)
        if line.message is None and line.error is None:
            raise UpstreamError(UNREADABLE)
        line.done = True  # there is no more of it, whatever it says
        Answer().take(line, body, events)
    except BROKEN:
        if b"\n" in body.strip():
            # The server streamed although it was not requested: a line for each piece.
            reader = Reader()
            return gather((*reader.feed(body), *reader.close()))
        raise UpstreamError(UNREADABLE) from None
    return gather(events)
