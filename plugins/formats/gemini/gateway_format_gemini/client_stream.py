"""Writes the hub's events as frames for a client of this format.

Frames are ``data:`` lines that end with CRLF pairs, without an end mark and without comments, as
the vendor's own client libraries expect them.
https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from collections.abc import Sequence

import msgspec

from gateway_core import ChoiceEnded, Conversation, Losses, ReplyFailed, StreamEvent
from gateway_formats.ndjson import escape_line_separators

from .client_replies import Answer
from .errors import write_error_frame

_FRAME = b'data: {"candidates":[{"content":{"parts":[%b],"role":"model"},"index":%d%b}],%b}\r\n\r\n'
_LOSSES = (
    b'data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}],'
    b'"x-gateway-dropped":%b}\r\n\r\n'
)


def write_losses(names: bytes) -> bytes:
    """A frame without text whose further member names what was lost: Google's SDKs fail on
    comments, and pass over members that they do not know."""
    return _LOSSES % msgspec.json.encode(names.decode())


class GeminiStreamWriter:
    """Events to frames: one frame for all that one network read brought."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._answer = Answer(request, losses)
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._failed:
            return b""
        end = b""
        for event in events:
            if isinstance(event, ReplyFailed):
                self._failed = True
                end = write_error_frame(event)
                break
            self._answer.add(event)
        frames = [
            _FRAME % (parts, index, choice.take_frame_logprobs(), self._answer.identity)
            for index, choice in self._answer.choices.items()
            if (parts := choice.take_parts())
        ]
        return escape_line_separators(b"".join(frames) + end)

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._answer.choices:
            self._answer.add(ChoiceEnded("stop"))
        return escape_line_separators(b"data: {%b}\r\n\r\n" % self._answer.write_end())
