"""Streams that vendors send."""

from collections.abc import Sequence

import msgspec

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Finish,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import EventDecoder, FrameTooLong

from ._wire_types import (
    UNREADABLE,
    AnswerPart,
    CallPart,
    End,
    Event,
    Failed,
    Start,
    TextPart,
    ThoughtPart,
    TokenCounts,
    read_event,
)

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tools": "tool_calls",
    "filter": "content_filter",
}
"""This format's words for why an answer ended, to the gateway's."""


class EventReader:
    """Turns the vendor's events, in order, into the gateway's."""

    def __init__(self) -> None:
        self.is_over = False
        self._started = False
        self._count = 0
        self._open_kind: type[AnswerPart] | None = None

    def take(self, event: Event) -> list[StreamEvent]:
        """Raises msgspec.ValidationError for an event out of order."""
        if isinstance(event, Failed):
            self.is_over = True
            return [ReplyFailed(event.message, event.kind)]
        if isinstance(event, Start) is self._started:
            raise msgspec.ValidationError("an answer has one start, and nothing before it")
        self._started = True
        match event:
            case Start(id, model):
                return [ReplyStarted(id, model)]
            case TextPart(text):
                return self._grow(TextPart, Text(text=""), text)
            case ThoughtPart(text):
                return self._grow(ThoughtPart, Reasoning(), text)
            case CallPart(id, name, arguments):
                call = ToolCall(id=id, name=name)
                return [*self._grow(CallPart, call, arguments), *self._end_part()]
            case End(finish, usage, met):
                self.is_over = True
                reports = [UsageReported(usage_of(usage))] if usage is not None else []
                ended = ChoiceEnded(FINISHES.get(finish, "stop"), stop_sequence=met)
                return [*self._end_part(), *reports, ended]

    def _grow(self, kind: type[AnswerPart], part: AnyPart, text: str) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if self._open_kind is not kind:
            events += [*self._end_part(), PartStarted(self._count, part)]
            self._open_kind, self._count = kind, self._count + 1
        return [*events, PartGrew(self._count - 1, text)] if text else events

    def _end_part(self) -> list[StreamEvent]:
        """End the part that is open."""
        ended, self._open_kind = self._open_kind, None
        return [PartEnded(self._count - 1)] if ended is not None else []


class Reader:
    """A vendor's stream to events, however its bytes are cut."""

    def __init__(self) -> None:
        self._frames = EventDecoder()
        self._answer = EventReader()

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        try:
            return self._read(self._frames.feed(chunk))
        except FrameTooLong as error:
            return self._fail(str(error))

    def close(self) -> Sequence[StreamEvent]:
        events = self._read(self._frames.close())
        return [*events, *self._fail(CUT_SHORT)]

    def _read(self, frames: Sequence[tuple[bytes, bytes]]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for _, data in frames:
            if self._answer.is_over:
                break
            try:
                event = read_event(data)
                events += self._answer.take(event) if event is not None else ()
            except UNREADABLE:
                events += self._fail(UNREADABLE_EVENT)
        return events

    def _fail(self, message: str) -> list[StreamEvent]:
        was_over, self._answer.is_over = self._answer.is_over, True
        return [] if was_over else [ReplyFailed(message)]


def usage_of(counts: TokenCounts) -> Usage:
    """Limit counts that cannot be true to what is possible."""
    cached, output = max(0, counts.cached), max(0, counts.output)
    return Usage(
        input_tokens=max(0, counts.fresh) + cached,
        output_tokens=output,
        cached_tokens=cached,
        reasoning_tokens=min(max(0, counts.reasoning), output),
    )
