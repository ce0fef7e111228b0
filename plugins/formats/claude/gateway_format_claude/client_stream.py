"""The hub's events to the stream of events that clients of this dialect read.

Text goes the shortest way: the frame around it is built once per block, and
only the text itself is encoded.
"""

from collections.abc import Sequence

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Conversation,
    Foreign,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_formats.sequence import Sequencer

from ._citations import shown_citation
from ._dialect import DIALECT, encode
from ._frames import event_frame
from ._stop_reasons import written_finish
from ._thinking_proofs import data_slot, signature_slot
from ._usage import written_usage
from .client_replies import call_id, call_members, lost_part, message_id, own_members
from .errors import error_frame

_BROKEN = ReplyFailed("The upstream failed before its answer was complete")


class _OpenBlock:
    """The block that is being written. Its start may wait until there is something in it."""

    __slots__ = ("begun", "empty", "head", "is_plain", "part", "quoted")

    def __init__(self, part: AnyPart) -> None:
        self.part = part
        self.begun = False
        self.empty = True
        self.head = b""
        """What stands before the encoded text in every delta of this block."""
        self.quoted = False
        """Free text that is being wrapped in a JSON object."""
        self.is_plain = False
        """More text goes out as it is, because some has."""


class Writer:
    """Events to frames."""

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self._losses = losses
        self._asked_model = asked.model
        self._sequence = Sequencer()
        self._held: ReplyStarted | None = None
        """A beginning that waits for usage from the same network read."""
        self._reply_id = ""
        self._usage: Usage | None = None
        self._ended: ChoiceEnded | None = None
        self._block: _OpenBlock | None = None
        self._index = 0
        self._seen: dict[type, AnyPart] = {}
        self._done = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._done:
            return b""
        first = events[0] if len(events) == 1 else None
        if type(first) is PartGrew and (more := self._more(first)):
            return more
        out: list[bytes] = []
        if ChoiceEnded in map(type, events):
            self._note_candidates(events)
        for event in self._sequence.feed(events):
            if isinstance(event, PartGrew):
                block = self._block
                if block is not None and block.is_plain and event.logprobs is None and event.text:
                    out += (block.head, encode(event.text), b"}}\n\n")
                else:
                    self._grow(event, out)
            else:
                self._take(event, out)
                if self._done:
                    break
        if not self._done:
            self._begin(out)
        return b"".join(out)

    def _more(self, event: PartGrew) -> bytes:
        """More of the open block, which most calls are about; empty for anything else."""
        block = self._block
        if block is None or not block.is_plain or event.logprobs is not None or not event.text:
            return b""
        if not self._sequence.passes(event):
            return b""
        return block.head + encode(event.text) + b"}}\n\n"

    def _note_candidates(self, events: Sequence[StreamEvent]) -> None:
        for event in events:
            if isinstance(event, ChoiceEnded) and event.choice:
                self._losses.add("candidates")

    def close(self) -> bytes:
        """The end of the message; the final counts come with it."""
        if self._done:
            return b""
        self._done = True
        if self._ended is None or self._ended.finish == "error":
            return error_frame(_BROKEN)
        own = own_members(self._ended.extra, self._losses)
        stop = written_finish(
            self._ended.finish,
            met_stop=self._ended.stop_sequence is not None,
            parts=self._seen.values(),
            own=own.pop("stop_reason", None),
        )
        late = {name: own.pop(name) for name in _IN_DELTA if name in own}
        delta = {"stop_reason": stop, "stop_sequence": self._ended.stop_sequence, **late}
        end: dict[str, object] = {"type": "message_delta", "delta": delta, **own}
        end["usage"] = written_usage(self._usage)
        return event_frame(end) + _STOP

    def _take(self, event: StreamEvent, out: list[bytes]) -> None:
        match event:
            case ReplyStarted():
                self._held = event
                self._reply_id = event.id
            case UsageReported(usage):
                self._usage = usage
                self._begin(out)
            case PartStarted():
                self._begin(out)
                self._start(event.part, out)
            case PartSealed():
                self._seal(event)
            case CitationAdded(_, citation):
                self._cite(citation, out)
            case PartEnded():
                self._end(out)
            case ChoiceEnded():
                self._begin(out)
                self._ended = event
            case ReplyFailed():
                self._done = True
                out.append(error_frame(event))

    def _begin(self, out: list[bytes]) -> None:
        """Send the beginning that was held back, if there is one."""
        held, self._held = self._held, None
        if held is None:
            return
        message: dict[str, object] = {
            "id": message_id(held.id),
            "type": "message",
            "role": "assistant",
            "model": held.model or self._asked_model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": written_usage(self._usage),
        }
        out.append(event_frame({"type": "message_start", "message": message}))

    def _start(self, part: AnyPart, out: list[bytes]) -> None:
        self._seen[type(part)] = part
        self._block = block = _OpenBlock(part)
        if isinstance(part, Foreign) and part.dialect == DIALECT:
            self._open(block, part.raw, out)
        elif isinstance(part, ToolCall):
            self._start_call(block, part, out)
        elif isinstance(part, Reasoning):
            self._add(block, part.text, out)
        elif isinstance(part, Text):
            if part.signature is not None:
                self._losses.add("reasoning_signature")
            self._add(block, part.text, out)
            for citation in part.citations:
                self._cite(citation, out)
        elif isinstance(part, Refusal):
            self._add(block, part.text, out)
        else:
            self._losses.add(lost_part(part))

    def _start_call(self, block: _OpenBlock, part: ToolCall, out: list[bytes]) -> None:
        start = {
            "type": "tool_use",
            "id": call_id(part, self._reply_id, self._index),
            "name": part.name,
            "input": {},
            **call_members(part, self._losses),
        }
        self._open(block, start, out)
        if part.custom:
            self._losses.add("tool:custom")
            block.quoted = True
        self._add(block, part.arguments, out)

    def _open(self, block: _OpenBlock, start: object, out: list[bytes]) -> None:
        block.begun = True
        out.append(
            event_frame(
                {"type": "content_block_start", "index": self._index, "content_block": start}
            )
        )
        kind, member = _DELTAS.get(type(block.part), _DELTAS[Text])
        block.head = _HEAD % (self._index, kind, member)

    def _grow(self, event: PartGrew, out: list[bytes]) -> None:
        if event.logprobs is not None:
            self._losses.add("logprobs")
        if self._block is not None:
            self._add(self._block, event.text, out)

    def _add(self, block: _OpenBlock, text: str, out: list[bytes]) -> None:
        if not text or type(block.part) not in _DELTAS:
            return
        if not block.begun:
            if isinstance(block.part, Refusal) and "stop_details" in block.part.extra:
                return  # the same words come with the stop reason
            self._open(block, _THINKING if isinstance(block.part, Reasoning) else _TEXT, out)
        if block.quoted:
            text = ('{"input": "' if block.empty else "") + _inside(text)
        block.empty = False
        block.is_plain = not block.quoted
        out.append(block.head + encode(text) + b"}}\n\n")

    def _cite(self, citation: Citation, out: list[bytes]) -> None:
        block, shown = self._block, shown_citation(citation, self._losses)
        if block is None or shown is None or not isinstance(block.part, Text):
            return
        if not block.begun:
            self._open(block, _TEXT, out)
        out.append(self._delta("citations_delta", "citation", shown))

    def _seal(self, event: PartSealed) -> None:
        """Keep a proof for the end of its block, where this dialect's clients expect it."""
        block = self._block
        if block is None:
            return
        if not isinstance(block.part, Reasoning):
            self._losses.add("reasoning_signature")
            return
        block.part = replace(
            block.part,
            signature=event.signature or block.part.signature,
            sealed=event.sealed or block.part.sealed,
            origin=event.origin or block.part.origin,
        )

    def _end(self, out: list[bytes]) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        part = block.part
        if isinstance(part, Reasoning):
            self._end_thinking(block, part, out)
        if block.quoted:
            closing = '"}' if not block.empty else '{"input": ""}'
            out.append(self._delta("input_json_delta", "partial_json", closing))
        if block.begun:
            out.append(_BLOCK_STOP % self._index)
            self._index += 1

    def _end_thinking(self, block: _OpenBlock, part: Reasoning, out: list[bytes]) -> None:
        if not block.begun and part.signature is None and part.sealed is not None:
            self._open(block, {"type": "redacted_thinking", "data": data_slot(part)}, out)
            return
        slot = signature_slot(part)
        if not slot:
            return
        if not block.begun:
            self._open(block, _THINKING, out)
        out.append(self._delta("signature_delta", "signature", slot))

    def _delta(self, kind: str, member: str, value: str | Raw) -> bytes:
        delta = {"type": kind, member: value}
        return event_frame({"type": "content_block_delta", "index": self._index, "delta": delta})


def _inside(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return encode(text)[1:-1].decode()


_TEXT = {"type": "text", "text": ""}
_THINKING = {"type": "thinking", "thinking": "", "signature": ""}
_DELTAS: dict[type, tuple[bytes, bytes]] = {
    Text: (b"text_delta", b"text"),
    Refusal: (b"text_delta", b"text"),
    Reasoning: (b"thinking_delta", b"thinking"),
    ToolCall: (b"input_json_delta", b"partial_json"),
}
_HEAD = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":'
)
_BLOCK_STOP = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n'
_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
_IN_DELTA = ("container", "stop_details")
