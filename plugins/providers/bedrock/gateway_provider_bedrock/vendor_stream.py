"""Converse's event stream to events."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gateway_core import ReplyFailed, StreamEvent
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT

from ._answer import SERVER_TOOL, AnswerReader
from ._frames import Frame, Frames
from ._shapes import (
    BROKEN,
    BlockDelta,
    BlockStart,
    BlockStop,
    Fault,
    MessageStop,
    Metadata,
    stop_sequence_of,
)
from .errors import status_of, text_of

_start = msgspec.json.Decoder(BlockStart).decode
_delta = msgspec.json.Decoder(BlockDelta).decode
_stop = msgspec.json.Decoder(BlockStop).decode
_message_stop = msgspec.json.Decoder(MessageStop).decode
_metadata = msgspec.json.Decoder(Metadata).decode
_fault = msgspec.json.Decoder(Fault).decode
_any = msgspec.json.Decoder().decode


class Reader:
    def __init__(self) -> None:
        self._frames = Frames()
        self._answer = AnswerReader()
        self._is_over = False

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._is_over:
            return ()
        for _, frame in self._frames.feed(chunk):
            failure = take(frame, self._answer)
            if failure is not None:
                return self._failed(failure)
        return (
            self._failed(ReplyFailed(UNREADABLE_EVENT)) if self._frames.is_broken else self._given()
        )

    def close(self) -> Sequence[StreamEvent]:
        if self._is_over:
            return ()
        self._is_over = True
        is_whole = self._answer.has_ended and self._frames.is_empty()
        return () if is_whole else (ReplyFailed(CUT_SHORT),)

    def _failed(self, failure: ReplyFailed) -> list[StreamEvent]:
        self._is_over = True
        return [*self._given(), failure]

    def _given(self) -> list[StreamEvent]:
        events, self._answer.events = self._answer.events, []
        return events


def take(frame: Frame, answer: AnswerReader) -> ReplyFailed | None:
    """Read one frame; those of unknown types say nothing. The failure, when it is one."""
    if not frame.is_event:
        try:
            fault = _fault(frame.payload)
        except BROKEN:
            fault = Fault()
        message = text_of(fault) or frame.headers.get(":error-message")
        kind = frame.name or None
        status = status_of(kind or "")
        return ReplyFailed(message or "The upstream broke off its answer", kind=kind, status=status)
    read = _READERS.get(frame.name)
    # metadata, with the counts, follows messageStop.
    if read is None or (answer.has_ended and read is not _count):
        return None
    try:
        answer.start()
        read(frame.payload, answer)
    except BROKEN:
        return ReplyFailed(UNREADABLE_EVENT)
    return None


def _begin(payload: bytes, answer: AnswerReader) -> None:
    event = _start(payload)
    at, start = event.contentBlockIndex, event.start
    if start is None:
        return
    if start.toolUse is not None:
        call = start.toolUse
        # A server's tool runs at the vendor; the client must not answer the call.
        if call.type == SERVER_TOOL:
            answer.begin_foreign(at, {"toolUse": _any(payload)["start"]["toolUse"]})
        else:
            answer.begin_call(at, call.toolUseId, call.name)
    elif isinstance(start.toolResult, dict):
        answer.begin_foreign(at, {"toolResult": start.toolResult})
    elif start.image is not None:
        answer.begin_foreign(at, {"image": {"format": start.image.format}})


def _grow(payload: bytes, answer: AnswerReader) -> None:
    event = _delta(payload)
    at, delta = event.contentBlockIndex, event.delta
    if delta is None:
        return
    if delta.text is not None:
        answer.text(at, delta.text)
    elif delta.toolUse is not None:
        answer.grow_call(at, delta.toolUse.input)
    elif delta.reasoningContent is not None:
        if delta.reasoningContent.text is not None:
            answer.think(at, delta.reasoningContent.text)
        if delta.reasoningContent.signature is not None:
            answer.sign(at, delta.reasoningContent.signature)
        if delta.reasoningContent.redactedContent is not None:
            answer.redact(at, delta.reasoningContent.redactedContent)
    elif delta.citation is not None:
        answer.cite(at, delta.citation)
    elif delta.image is not None and delta.image.source is not None:
        answer.grow_foreign(at, delta.image.source.bytes)
    for piece in delta.toolResult or ():
        answer.grow_foreign(at, piece)


def _end_block(payload: bytes, answer: AnswerReader) -> None:
    answer.end_block(_stop(payload).contentBlockIndex)


def _end(payload: bytes, answer: AnswerReader) -> None:
    event = _message_stop(payload)
    answer.finish(event.stopReason, stop_sequence_of(event.additionalModelResponseFields))


def _count(payload: bytes, answer: AnswerReader) -> None:
    answer.count(_metadata(payload).usage)


def _open(payload: bytes, answer: AnswerReader) -> None:
    """The message has started, which the first frame of any kind says as well."""


# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
_READERS: dict[str, Callable[[bytes, AnswerReader], Any]] = {
    "contentBlockDelta": _grow,
    "contentBlockStart": _begin,
    "contentBlockStop": _end_block,
    "messageStart": _open,
    "messageStop": _end,
    "metadata": _count,
}
