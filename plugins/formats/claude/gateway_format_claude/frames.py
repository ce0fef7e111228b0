"""Writing this format's frames."""

import msgspec

from gateway_formats.sse import frame

from .dialect import encode


def event_frame(event: dict[str, object]) -> bytes:
    """An event in a frame of its name.

    What a vendor's own JSON brought along may hold line breaks, which would
    end the frame's line, so it is written again without white space.
    """
    data = encode(event)
    if b"\n" in data or b"\r" in data:
        data = msgspec.json.format(data, indent=-1)
    return frame(data, str(event["type"]).encode())
