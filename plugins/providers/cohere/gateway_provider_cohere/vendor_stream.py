"""Cohere's event stream to events."""

from collections.abc import Sequence

from gateway_core import ReplyFailed, StreamEvent, UpstreamError
from gateway_formats.fold import as_failure, unfold
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import EventDecoder, FrameTooLong

from ._answer import AnswerReader, failure_of
from ._shapes import (
    BROKEN,
    CitationRow,
    Content,
    Delta,
    DeltaMessage,
    Event,
    ToolCallRow,
    decode_event,
)
from .vendor_replies import read_reply

DONE = b"[DONE]"
_NO_DELTA, _NO_MESSAGE = Delta(), DeltaMessage()


class Reader:
    def __init__(self) -> None:
        self._frames = EventDecoder()
        self._answer = AnswerReader()

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._answer.is_over:
            return ()
        try:
            frames = self._frames.feed(chunk)
        except FrameTooLong as error:
            self._answer.fail(ReplyFailed(str(error)))
            frames = []
        return self._read(frames)

    def close(self) -> Sequence[StreamEvent]:
        if self._answer.is_over:
            return ()
        if (body := bytes(self._frames.held)).lstrip()[:1] == b"{":
            # The vendor did not stream as requested.
            self._answer.is_over = True
            try:
                return unfold(read_reply(body))
            except UpstreamError as error:
                return [as_failure(error)]
        events = list(self._read(self._frames.close()))
        if not self._answer.is_over:
            self._answer.is_over = True
            events.append(ReplyFailed(CUT_SHORT))
        return events

    def _read(self, frames: list[tuple[bytes, bytes]]) -> Sequence[StreamEvent]:
        answer = self._answer
        for _, data in frames:
            if answer.is_over:
                break
            if data == DONE:
                continue
            try:
                take(decode_event(data), answer)
            except BROKEN:
                answer.fail(ReplyFailed(UNREADABLE_EVENT))
        events, answer.events = answer.events, []
        return events


def take(event: Event, answer: AnswerReader) -> None:
    """Read one event; those of unknown types say nothing."""
    answer.start(event.id)
    delta = event.delta or _NO_DELTA
    message = delta.message or _NO_MESSAGE
    # The event types: https://docs.cohere.com/docs/streaming
    match event.type:
        case "content-delta" if isinstance(message.content, Content):
            tokens = None if event.logprobs is None else [event.logprobs]
            answer.grow_content(event.index, message.content, tokens)
        case "tool-call-delta" if isinstance(message.tool_calls, ToolCallRow):
            answer.grow_call(event.index, message.tool_calls)
        case "tool-plan-delta":
            answer.plan(message.tool_plan or "")
        case "content-start" if isinstance(message.content, Content):
            answer.begin_content(event.index, message.content)
        case "content-end":
            answer.end_content()
        case "tool-call-start" if isinstance(message.tool_calls, ToolCallRow):
            answer.begin_call(event.index, message.tool_calls)
        case "tool-call-end":
            answer.end_call(event.index)
        case "citation-start" if isinstance(message.citations, CitationRow):
            answer.cite(message.citations)
        case "message-end":
            failure = failure_of(delta.finish_reason, delta.error, delta.error_type)
            if failure is None:
                answer.finish(delta.finish_reason, delta.usage)
            else:
                answer.fail(failure)
