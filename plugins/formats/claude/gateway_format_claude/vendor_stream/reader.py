"""Reads a vendor's stream of events as the hub's.

https://docs.anthropic.com/en/api/messages-streaming
"""

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
    CitationAdded,
    Finish,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    UsageReported,
)
from gateway_formats.fold import as_failure, unfold
from gateway_formats.frame_scanner import FrameScanner
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import FrameBuffer, FrameTooLong

from .._citations import read_citation
from .._dialect import NULL, Extra, Unreadable, decode_members, drop_nulls, is_null
from .._stop_reasons import NOTHING, read_stop_reason
from .._usage import Meter
from .._vendor_blocks import (
    LATE,
    is_foreign,
    read_block,
    read_input,
    read_late_members,
    read_refusal,
)
from ..errors import SECOND_ANSWER, read_failure
from ..vendor_replies import read_reply
from .pending_block import PendingBlock

_STARTS = ("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", *LATE)
_GROWS = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}
"""The deltas that add to each type of block."""


# JSON holds no cycles, so the garbage collector need not follow these.
class Delta(Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: Raw = NULL
    stop_reason: str | None = None
    stop_sequence: str | None = None


class Event(Struct, gc=False):
    """Any event of a stream."""

    type: str = ""
    index: int = 0
    delta: Delta | None = None
    content_block: Raw = NULL
    message: Raw = NULL
    usage: Raw = NULL


class MessageStart(Struct):
    id: str | None = None
    model: str | None = None
    content: list[Raw] | None = None
    usage: Raw = NULL


_decode_event = msgspec.json.Decoder(Event).decode
_decode_start = msgspec.json.Decoder(MessageStart).decode


class OpenBlock:
    """A block that has not ended: a part of the hub, or one that is still being put together."""

    __slots__ = ("grown", "grows", "index", "pending")

    def __init__(self, index: int, grows: str, pending: PendingBlock | None = None) -> None:
        self.index = index
        self.grows = grows
        """The type of the deltas that add to it."""
        self.grown = False
        self.pending = pending


class ClaudeStreamReader:
    """Vendor bytes to events."""

    def __init__(self) -> None:
        self._frames = FrameBuffer()
        self._done = False
        self._begun = False
        # Most frames of a stream differ in nothing but their text. Not decoding those saves a
        # fifth of the instructions of a stream (benchmarks/short-cuts-claude-gemini.md).
        self._skimmer = FrameScanner()
        self._growing = 0
        """The part that the frames which are alike add to."""
        self._open: dict[int, OpenBlock] = {}
        self._parts = 0
        self._has_calls = False
        self._meter = Meter()
        self._reason: str | None = None
        self._stop_sequence: str | None = None
        self._late: dict[str, Raw] = {}

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        if not self._frames.held and (text := self._skimmer.text(chunk)):
            return (PartGrew(self._growing, text),)
        try:
            return self._read(self._frames.feed(chunk))
        except FrameTooLong as error:
            return self._fail(ReplyFailed(str(error)))

    def close(self) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        rest = self._frames.close()
        if not self._begun and rest.lstrip()[:1] == b"{":
            # The vendor did not stream as requested, or sent an error as plain JSON.
            self._done = True
            try:
                return unfold(read_reply(rest))
            except UpstreamError as error:
                return [as_failure(error)]
        events = list(self._read(rest + b"\n\n"))
        if not self._done:
            events += self._fail(ReplyFailed(CUT_SHORT))
        return events

    def _fail(self, failure: ReplyFailed) -> Sequence[StreamEvent]:
        self._done = True
        return (failure,)

    def _read(self, whole: bytes) -> Sequence[StreamEvent]:
        """The events of whole frames."""
        events: list[StreamEvent] = []

        def read_frame(name: bytes, data: bytes) -> str | None:
            # Some proxies end every stream as chat completions end.
            if data == b"[DONE]":
                return ""
            event = _decode_event(data)
            if event.type == "content_block_delta":
                return self._grow(event, data, events)
            self._take(event, name, data, events)
            return None if self._done else ""

        def add_texts(texts: list[str]) -> None:
            events.extend([PartGrew(self._growing, text) for text in texts])

        try:
            self._skimmer.through(whole, read_frame, add_texts)
        except Unreadable:
            events += self._fail(ReplyFailed(UNREADABLE_EVENT))
        return events

    def _take(self, event: Event, name: bytes, data: bytes, events: list[StreamEvent]) -> None:
        match event.type or name.decode():
            case "content_block_start":
                self._start_block(event, events)
            case "content_block_stop":
                self._stop_block(event.index, events)
            case "content_block_delta":
                self._grow(event, data, events)
            case "message_start":
                if is_null(event.message):
                    raise msgspec.DecodeError("a message_start without its message")
                if self._begun:
                    # A repeated beginning is harmless as long as nothing has followed the first.
                    if self._parts or self._open:
                        events += self._fail(ReplyFailed(SECOND_ANSWER))
                    return
                self._begun = True
                start, members = _decode_start(event.message), decode_members(event.message)
                self._late.update(read_late_members(members))
                rest = {name: value for name, value in members.items() if name not in _STARTS}
                events.append(
                    ReplyStarted(start.id or "", start.model or "", extra=drop_nulls(rest))
                )
                self._note_usage(start.usage, events)
                for index, block in enumerate(start.content or ()):
                    self._start_block(Event(index=index, content_block=block), events)
                    self._stop_block(index, events)
            case "message_delta":
                self._note_usage(event.usage, events)
                members = decode_members(data)
                self._late.update(read_late_members(members))
                if event.delta is not None:
                    self._reason = event.delta.stop_reason or self._reason
                    self._stop_sequence = event.delta.stop_sequence or self._stop_sequence
                    # The vendor puts some late members beside the delta and some into it.
                    self._late.update(read_late_members(decode_members(members["delta"])))
            case "message_stop":
                if not self._begun:
                    raise msgspec.DecodeError("an end without a beginning")
                for index in list(self._open):
                    self._stop_block(index, events)
                self._done = True
                finish: Finish = "tool_calls" if self._has_calls else "stop"
                more: Extra = NOTHING
                if self._reason is not None:
                    finish, more = read_stop_reason(self._reason, has_calls=self._has_calls)
                refusal = read_refusal(self._late)
                if refusal is not None:
                    events.append(PartStarted(self._parts, replace(refusal, text="")))
                    events.append(PartGrew(self._parts, refusal.text))
                    events.append(PartEnded(self._parts))
                events.append(ChoiceEnded(finish, 0, self._stop_sequence, {**self._late, **more}))
            case "error":
                events += self._fail(read_failure(data))
            # "New event types may be added", says the vendor's page: others are left out.

    def _note_usage(self, raw: Raw, events: list[StreamEvent]) -> None:
        if self._meter.read(raw):
            usage = self._meter.usage()
            if usage is not None:
                events.append(UsageReported(usage))

    def _start_block(self, event: Event, events: list[StreamEvent]) -> None:
        if not self._begun:
            self._begun = True
            events.append(ReplyStarted("", ""))
        if is_null(event.content_block) or event.index in self._open:
            raise msgspec.DecodeError("a block that cannot start")
        block, part = read_block(event.content_block)
        if is_foreign(block):
            self._open[event.index] = OpenBlock(-1, "", PendingBlock(event.content_block))
            return
        index = self._parts
        opened = self._open[event.index] = OpenBlock(index, _GROWS.get(block.type, ""))
        self._parts += 1
        text = block.text
        if isinstance(part, Text):
            events.append(PartStarted(index, replace(part, text="", citations=())))
            events += (CitationAdded(index, citation) for citation in part.citations)
        elif isinstance(part, Reasoning):
            text = block.thinking if block.type == "thinking" else text
            events.append(PartStarted(index, replace(part, text="")))
        elif isinstance(part, ToolCall):
            text = read_input(block.input)
            self._has_calls = True
            events.append(PartStarted(index, replace(part, arguments="")))
        if text:
            opened.grown = True
            events.append(PartGrew(index, text))

    def _grow(self, event: Event, data: bytes, events: list[StreamEvent]) -> str:
        """Add to a block; the text, if that is all that was added."""
        block, delta = self._open.get(event.index), event.delta
        if block is None or delta is None:
            raise msgspec.DecodeError("a delta without its block")
        if block.pending is not None:
            block.pending.grow(decode_members(data)["delta"])
        elif delta.type == block.grows:
            text = delta.text or delta.thinking or delta.partial_json
            if text:
                block.grown = True
                self._growing = block.index
                events.append(PartGrew(block.index, text))
                return text
        elif delta.type == "signature_delta" and delta.signature:
            events.append(PartSealed(block.index, signature=delta.signature))
        elif delta.type == "citations_delta" and not is_null(delta.citation):
            events.append(CitationAdded(block.index, read_citation(delta.citation)))
        return ""

    def _stop_block(self, index: int, events: list[StreamEvent]) -> None:
        block = self._open.pop(index, None)
        if block is None:
            return
        if block.pending is not None:
            events.append(PartStarted(self._parts, block.pending.whole()))
            events.append(PartEnded(self._parts))
            self._parts += 1
            return
        if block.grows == "input_json_delta" and not block.grown:
            # A call without arguments gets no delta, or an empty one.
            events.append(PartGrew(block.index, "{}"))
        events.append(PartEnded(block.index))
