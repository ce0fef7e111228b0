"""Watching answers that pass unchanged from a vendor to a client of this format."""

from gateway_core import ReplyFailed, Usage
from gateway_formats.sse import write_frame

from ._wire_types import (
    AnswerPart,
    CallPart,
    End,
    Failed,
    TextPart,
    ThoughtPart,
    encode,
    read_event,
)
from .vendor_replies import read_answer
from .vendor_stream import usage_of


class Watch:
    """Reads from each frame what the gateway has to know: usage, the end, failures."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        """Raises an exception of UNREADABLE."""
        if self.ended:
            return False
        row = read_event(data)
        if isinstance(row, Failed):
            return ReplyFailed(row.message, row.kind)
        if isinstance(row, TextPart | ThoughtPart | CallPart):
            self.started = True
            self.characters += length_of(row)
        elif isinstance(row, End):
            self.ended = True
            self.usage = usage_of(row.usage) if row.usage is not None else None
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return write_frame(encode(Failed(failure.message, failure.kind)))


def length_of(part: AnswerPart) -> int:
    return len(part.arguments if isinstance(part, CallPart) else part.text)


def read_counts(body: bytes) -> tuple[Usage | None, int]:
    """A whole answer's usage and length in characters. Raises UpstreamError."""
    answer = read_answer(body)
    usage = usage_of(answer.usage) if answer.usage is not None else None
    return usage, sum(map(length_of, answer.parts))
