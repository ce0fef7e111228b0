"""Writing this format's frames."""

from gateway_formats.sse import write_frame

from .dialect import encode

_CR, _LF = b"\r\n"


def event_frame(event: dict[str, object]) -> bytes:
    """An event in a frame of its name.

    A vendor's own JSON may bring line breaks along, which would end the frame's
    line. In JSON they can only be white space.
    """
    data = encode(event)
    if _LF in data or _CR in data:
        data = data.replace(b"\n", b" ").replace(b"\r", b" ")
    return write_frame(data, str(event["type"]).encode())
