"""Reads a vendor's stream as the hub's events, in whichever framing it comes.

https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from collections.abc import Sequence

from gateway_core import StreamEvent
from gateway_formats.relay import CUT_SHORT
from gateway_formats.sse import FrameBuffer, FrameTooLong, parse_data

from ._json_pieces import JsonPieces
from ._open_reply import OpenReply

_BOM = b"\xef\xbb\xbf"


class GeminiStreamReader:
    """Server-sent events, as requested; a JSON list or a lone object where one comes instead."""

    def __init__(self) -> None:
        self._reply = OpenReply()
        self._frames: FrameBuffer | None = None
        self._pieces: JsonPieces | None = None
        self._held = b""

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._frames is None and self._pieces is None:
            # Which framing it is shows with the first byte that is not white space.
            self._held += chunk
            chunk = self._held.lstrip(_BOM + b" \r\n\t")
            if not chunk:
                return ()
            if chunk[:1] in (b"{", b"["):
                self._pieces = JsonPieces()
            else:
                self._frames = FrameBuffer()
        payloads: list[bytes] = []
        try:
            if self._frames is not None:
                payloads = parse_data(self._frames.feed(chunk))
            elif self._pieces is not None:
                payloads = self._pieces.feed(chunk)
        except (FrameTooLong, ValueError) as error:
            return self._reply.fail(str(error))
        events: list[StreamEvent] = []
        for payload in payloads:
            events += self._reply.read(payload)
        return events

    def close(self) -> Sequence[StreamEvent]:
        events: list[StreamEvent] = []
        if self._frames is not None:
            # The last frame may lack its blank line.
            for payload in parse_data(self._frames.close()):
                events += self._reply.read(payload)
        if self._pieces is not None and self._pieces.unfinished:
            events += self._reply.fail(CUT_SHORT)
        return [*events, *self._reply.end()]
