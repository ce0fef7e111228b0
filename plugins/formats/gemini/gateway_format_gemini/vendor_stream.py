"""The vendor's stream as events, in whichever framing it comes."""

from collections.abc import Sequence

from gateway_core import PartGrew, StreamEvent
from gateway_formats.frame_template import FrameTemplate, derive_template
from gateway_formats.relay import CUT_SHORT, MOST_TEMPLATES
from gateway_formats.sse import FrameBuffer, FrameTooLong, parse_data

from ._json_pieces import JsonPieces
from .vendor_replies.reply import OpenReply

_BOM = b"\xef\xbb\xbf"
_ENDS = (b"\r\n\r\n", b"\n\n")
"""Of whole frames, as nearly all are."""


class GeminiStreamReader:
    """Server-sent events, as asked for; a JSON list or a lone object where one comes instead."""

    def __init__(self) -> None:
        self._reply = OpenReply()
        self._frames: FrameBuffer | None = None
        self._pieces: JsonPieces | None = None
        self._held = b""
        self._alike: FrameTemplate | None = None
        """What the last frames have in common, while they bring nothing but text."""
        self._tries = MOST_TEMPLATES

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._alike is not None and (text := self._text(chunk, self._alike)):
            return self._reply.grow(text)
        if self._frames is None and self._pieces is None:
            chunk = self._first(chunk)
            if not chunk:
                return ()
        begins = self._frames is not None and not self._frames.held
        try:
            payloads = self._payloads(chunk)
        except (FrameTooLong, ValueError) as error:
            return self._reply.fail(str(error))
        self._alike = None
        if len(payloads) == 1:
            return self._one(payloads[0], chunk if begins else b"")
        events: list[StreamEvent] = []
        for payload in payloads:
            events += self._reply.take(payload)
        return events

    def close(self) -> Sequence[StreamEvent]:
        events: list[StreamEvent] = []
        if self._frames is not None:
            for data in parse_data(self._frames.close()):
                events += self._reply.take(data)
        if self._pieces is not None and self._pieces.unfinished:
            events += self._reply.fail(CUT_SHORT)
        return [*events, *self._reply.end()]

    def _text(self, chunk: bytes, alike: FrameTemplate) -> str:
        """The text of a read that is one frame like the last one; empty for any other."""
        return "" if self._frames is None or self._frames.held else alike.text(chunk)

    def _one(self, payload: bytes, frame: bytes) -> Sequence[StreamEvent]:
        """The events of one piece; the next ones may be like its frame, if that came whole."""
        events = self._reply.take_more(payload)
        if not events:
            return self._reply.take(payload)
        only = events[0] if len(events) == 1 else None
        if type(only) is PartGrew and frame.endswith(_ENDS) and self._tries:
            self._tries -= 1
            self._alike = derive_template(frame, only.text)
        return events

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
            self._frames = FrameBuffer()
        return start

    def _payloads(self, chunk: bytes) -> list[bytes]:
        if self._frames is not None:
            return parse_data(self._frames.feed(chunk))
        return self._pieces.feed(chunk) if self._pieces is not None else []
