"""The vendor's stream as events, in whichever framing it comes."""

from collections.abc import Sequence

from gateway_core import StreamEvent
from gateway_formats.relay import CUT_SHORT
from gateway_formats.sse import Frames, FrameTooLong, texts

from .json_pieces import JsonPieces
from .replies import OpenReply

_BOM = b"\xef\xbb\xbf"


class GeminiStreamReader:
    """Server-sent events, as asked for; a JSON list or a lone object where one comes instead."""

    def __init__(self) -> None:
        self._reply = OpenReply()
        self._frames: Frames | None = None
        self._pieces: JsonPieces | None = None
        self._held = b""

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._frames is None and self._pieces is None:
            chunk = self._first(chunk)
            if not chunk:
                return ()
        try:
            payloads = self._payloads(chunk)
        except (FrameTooLong, ValueError) as error:
            return self._reply.fail(str(error))
        if len(payloads) == 1:
            return self._reply.take(payloads[0])
        events: list[StreamEvent] = []
        for payload in payloads:
            events += self._reply.take(payload)
        return events

    def close(self) -> Sequence[StreamEvent]:
        events: list[StreamEvent] = []
        if self._frames is not None:
            for data in texts(self._frames.close()):
                events += self._reply.take(data)
        if self._pieces is not None and self._pieces.unfinished:
            events += self._reply.fail(CUT_SHORT)
        return [*events, *self._reply.end()]

    def _first(self, chunk: bytes) -> bytes:
        """See which framing it is, as soon as there is anything to see."""
        held = self._held + chunk
        start = held.lstrip(_BOM + b" \r\n\t")
        if not start:
            self._held = held
            return b""
        if start[:1] in (b"{", b"["):
            self._pieces = JsonPieces()
        else:
            self._frames = Frames()
        return start

    def _payloads(self, chunk: bytes) -> list[bytes]:
        if self._frames is not None:
            return texts(self._frames.feed(chunk))
        return self._pieces.feed(chunk) if self._pieces is not None else []
