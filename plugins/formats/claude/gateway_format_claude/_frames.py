"""Writes this format's frames.

https://docs.anthropic.com/en/api/messages-streaming
"""

from gateway_formats.sse import write_frame

from ._dialect import encode

_CR, _LF = b"\r\n"


def write_event(event: dict[str, object]) -> bytes:
    """A frame whose event name is the event's type, as the vendor's are."""
    data = encode(event)
    # A vendor's own JSON may hold line breaks, which would end the frame's line. Between JSON
    # tokens they can only be white space (RFC 8259, section 2).
    if _LF in data or _CR in data:
        data = data.replace(b"\n", b" ").replace(b"\r", b" ")
    return write_frame(data, str(event["type"]).encode())
