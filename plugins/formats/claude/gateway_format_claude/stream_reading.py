"""A vendor's stream of events to the hub's."""

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

from .answers import LATE, Block, input_text, is_foreign, late_members, read_block, refusal_in
from .citations import read_citation
from .dialect import NULL, Extra, Unreadable, is_null, members_of, present
from .errors import failure_in
from .finish import read_finish
from .pending import PendingBlock
from .replies import read_reply
from .usage import Meter

SECOND_ANSWER = "The upstream began a second answer inside the first"

_STARTS = ("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", *LATE)
_GROWS = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Delta(Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: Raw = NULL
    stop_reason: str | None = None
    stop_sequence: str | None = None


class _Event(Struct, gc=False):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: Raw = NULL
    message: Raw = NULL
    usage: Raw = NULL


class _Start(Struct):
    id: str | None = None
    model: str | None = None
    content: list[Raw] | None = None
    usage: Raw = NULL


_event = msgspec.json.Decoder(_Event).decode
_start = msgspec.json.Decoder(_Start).decode


class _Open:
    """A block that has not ended: a part of the hub, or one that is still being put together."""

    __slots__ = ("grown", "grows", "index", "pending")

    def __init__(self, index: int, grows: str, pending: PendingBlock | None = None) -> None:
        self.index = index
        self.grows = grows
        self.grown = False
        self.pending = pending


class Reader:
    """Vendor bytes to events."""

    def __init__(self) -> None:
        self._frames = FrameBuffer()
        self._done = False
        self._begun = False
        self._skimmer = FrameScanner()
        self._growing = 0
        """The part that the frames which are alike add to."""
        self._open: dict[int, _Open] = {}
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
            return self._whole(rest)
        events = list(self._read(rest + b"\n\n"))
        if not self._done:
            events += self._fail(ReplyFailed(CUT_SHORT))
        return events

    def _whole(self, body: bytes) -> Sequence[StreamEvent]:
        """A vendor that was asked to stream and did not, or that sent an error as plain JSON."""
        self._done = True
        try:
            return unfold(read_reply(body))
        except UpstreamError as error:
            return [as_failure(error)]

    def _fail(self, failure: ReplyFailed) -> Sequence[StreamEvent]:
        self._done = True
        return (failure,)

    def _read(self, whole: bytes) -> Sequence[StreamEvent]:
        events: list[StreamEvent] = []

        def look(name: bytes, data: bytes) -> str | None:
            return self._look(name, data, events)

        def tell(texts: list[str]) -> None:
            events.extend([PartGrew(self._growing, text) for text in texts])

        try:
            self._skimmer.through(whole, look, tell)
        except Unreadable:
            events += self._fail(ReplyFailed(UNREADABLE_EVENT))
        return events

    def _look(self, name: bytes, data: bytes, events: list[StreamEvent]) -> str | None:
        """Read one frame, as a FrameScanner wants it."""
        if data == b"[DONE]":
            return ""
        event = _event(data)
        if event.type == "content_block_delta":
            return self._grow(event, data, events)
        self._take(event, name, data, events)
        return None if self._done else ""

    def _take(self, event: _Event, name: bytes, data: bytes, events: list[StreamEvent]) -> None:
        kind = event.type or name.decode()
        if kind == "content_block_start":
            self._start_block(event, events)
        elif kind == "content_block_stop":
            self._stop_block(event.index, events)
        elif kind == "content_block_delta":
            self._grow(event, data, events)
        elif kind == "message_start":
            self._start(event.message, events)
        elif kind == "message_delta":
            self._delta(event, data, events)
        elif kind == "message_stop":
            self._stop(events)
        elif kind == "error":
            events += self._fail(failure_in(data))

    def _start(self, message: Raw, events: list[StreamEvent]) -> None:
        if is_null(message):
            raise msgspec.DecodeError("a message_start without its message")
        if self._begun:
            if self._parts or self._open:
                events += self._fail(ReplyFailed(SECOND_ANSWER))
            return
        self._begun = True
        start, members = _start(message), members_of(message)
        self._late.update(late_members(members))
        rest = {name: value for name, value in members.items() if name not in _STARTS}
        events.append(ReplyStarted(start.id or "", start.model or "", extra=present(rest)))
        self._note_usage(start.usage, events)
        for index, block in enumerate(start.content or ()):
            self._start_block(_Event(index=index, content_block=block), events)
            self._stop_block(index, events)

    def _note_usage(self, said: Raw, events: list[StreamEvent]) -> None:
        if self._meter.take(said):
            usage = self._meter.usage()
            if usage is not None:
                events.append(UsageReported(usage))

    def _start_block(self, event: _Event, events: list[StreamEvent]) -> None:
        if not self._begun:
            self._begun = True
            events.append(ReplyStarted("", ""))
        if is_null(event.content_block) or event.index in self._open:
            raise msgspec.DecodeError("a block that cannot start")
        block, part = read_block(event.content_block)
        if is_foreign(block):
            self._open[event.index] = _Open(-1, "", PendingBlock(event.content_block))
            return
        open_block = _Open(self._parts, _GROWS.get(block.type, ""))
        self._parts += 1
        self._open[event.index] = open_block
        if isinstance(part, Text):
            events.append(PartStarted(open_block.index, replace(part, text="", citations=())))
            events += (CitationAdded(open_block.index, said) for said in part.citations)
        elif isinstance(part, Reasoning):
            events.append(PartStarted(open_block.index, replace(part, text="")))
        elif isinstance(part, ToolCall):
            self._has_calls = True
            events.append(PartStarted(open_block.index, replace(part, arguments="")))
        said = _first_text(block)
        if said:
            open_block.grown = True
            events.append(PartGrew(open_block.index, said))

    def _grow(self, event: _Event, data: bytes, events: list[StreamEvent]) -> str:
        """Add to a block; gives the text, if that is all there was."""
        block, delta = self._open.get(event.index), event.delta
        if block is None or delta is None:
            raise msgspec.DecodeError("a delta without its block")
        if block.pending is not None:
            block.pending.grow(members_of(data)["delta"])
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
            events.append(PartGrew(block.index, "{}"))
        events.append(PartEnded(block.index))

    def _delta(self, event: _Event, data: bytes, events: list[StreamEvent]) -> None:
        self._note_usage(event.usage, events)
        if event.delta is not None:
            self._reason = event.delta.stop_reason or self._reason
            self._stop_sequence = event.delta.stop_sequence or self._stop_sequence
        members = members_of(data)
        self._late.update(late_members(members))
        if "delta" in members and event.delta is not None:
            self._late.update(late_members(members_of(members["delta"])))

    def _stop(self, events: list[StreamEvent]) -> None:
        if not self._begun:
            raise msgspec.DecodeError("an end without a beginning")
        for index in list(self._open):
            self._stop_block(index, events)
        self._done = True
        finish, more = self._finish()
        refusal = refusal_in(self._late)
        if refusal is not None:
            events.append(PartStarted(self._parts, replace(refusal, text="")))
            events.append(PartGrew(self._parts, refusal.text))
            events.append(PartEnded(self._parts))
        extra = {**self._late, **more}
        events.append(ChoiceEnded(finish, 0, self._stop_sequence, extra))

    def _finish(self) -> tuple[Finish, Extra]:
        if self._reason is None:
            return ("tool_calls" if self._has_calls else "stop"), {}
        return read_finish(self._reason, has_calls=self._has_calls)


def _first_text(block: Block) -> str | None:
    if block.type == "tool_use":
        return input_text(block.input)
    return block.thinking if block.type == "thinking" else block.text
