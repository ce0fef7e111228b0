"""Read a vendor's stream of lines into events."""

from collections.abc import Sequence

import msgspec

from gateway_core import ReplyFailed, StreamEvent
from gateway_formats.ndjson import LineBuffer, split_lines
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import FrameTooLong

from ._answer import Answer
from ._dialect import BROKEN
from ._lines import decode_line


class Reader:
    """The server's lines to events."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._answer = Answer()

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._answer.is_over:
            return ()
        try:
            whole = self._lines.feed(chunk)
        except FrameTooLong as error:
            self._answer.is_over = True
            return (ReplyFailed(str(error)),)
        return self._read(whole) if whole else ()

    def close(self) -> Sequence[StreamEvent]:
        """A last line counts without its newline."""
        if self._answer.is_over:
            return ()
        events = self._read(self._lines.close())
        if not self._answer.is_over:
            self._answer.is_over = True
            events.append(ReplyFailed(CUT_SHORT))
        return events

    def _read(self, whole: bytes) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        answer = self._answer
        for encoded in split_lines(whole):
            try:
                line = decode_line(encoded)
                if line.message is None and line.error is None and not line.done:
                    raise msgspec.ValidationError("neither a message nor an end")
                answer.take(line, encoded, events)
            except BROKEN:
                answer.is_over = True
                events.append(ReplyFailed(UNREADABLE_EVENT))
            if answer.is_over:
                break
        return events
