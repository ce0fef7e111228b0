"""A stream that came where a whole answer was asked for."""

from gateway_core import Reply, StreamReader

from .fold import gather

_FRAMES = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How a stream of server-sent events may begin: WHATWG HTML, section 9.2.5."""


def is_stream(body: bytes) -> bool:
    """Whether a body is a stream of server-sent events and no JSON."""
    return not body.startswith(b"{") and body.lstrip(b" \t\r\n\xef\xbb\xbf").startswith(_FRAMES)


def read_stream(body: bytes, reader: StreamReader) -> Reply:
    """The reply that a whole stream describes. Raises UpstreamError."""
    return gather((*reader.feed(body), *reader.close()))
