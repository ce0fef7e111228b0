"""Writes the hub's events as the stream that clients of this format read.

Text goes the shortest way: the frame around it is built once per block, and only the text itself
is encoded.
https://docs.anthropic.com/en/api/messages-streaming
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

from ._citations import write_citation_for_client
from ._dialect import DIALECT, encode
from ._frames import write_event
from ._stop_reasons import write_stop_reason
from ._thinking_proofs import write_data, write_signature
from ._usage import write_usage
from .client_replies import (
    keep_call_members,
    keep_own_members,
    make_call_id,
    make_message_id,
    record_lost_part,
)
from .errors import write_error_frame

_BROKEN = ReplyFailed("The upstream failed before its answer was complete")
_TEXT = {"type": "text", "text": ""}
_THINKING = {"type": "thinking", "thinking": "", "signature": ""}
_DELTAS: dict[type, tuple[bytes, bytes]] = {
    Text: (b"text_delta", b"text"),
    Refusal: (b"text_delta", b"text"),
    Reasoning: (b"thinking_delta", b"thinking"),
    ToolCall: (b"input_json_delta", b"partial_json"),
}
# Building this head once per block saves a quarter of the instructions of a stream
# (benchmarks/short-cuts-claude-gemini.md).
_HEAD = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":'
)
_BLOCK_STOP = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n'
_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
_IN_DELTA = ("container", "stop_details")


class WrittenBlock:
    """The block that is being written. Its start may wait until there is something in it."""

    __slots__ = ("empty", "head", "part", "quoted", "started")

    def __init__(self, part: AnyPart) -> None:
        self.part = part
        self.started = False
        self.empty = True
        self.head = b""
        """What stands before the encoded text in every delta of this block."""
        self.quoted = False
        """Free text that is being wrapped in a JSON object."""


class ClaudeStreamWriter:
    """Events to frames."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._losses = losses
        self._requested_model = request.model
        """What the answer is named after; see ``write_reply``."""
        # Blocks cannot interleave on this wire.
        self._sequence = Sequencer()
        self._held: ReplyStarted | None = None
        """A beginning that waits for usage from the same network read."""
        self._reply_id = ""
        self._usage: Usage | None = None
        self._ended: ChoiceEnded | None = None
        self._block: WrittenBlock | None = None
        self._index = 0
        self._written: dict[type, AnyPart] = {}
        self._done = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._done:
            return b""
        out: list[bytes] = []
        if any(type(event) is ChoiceEnded and event.choice for event in events):
            self._losses.add("candidates")
        for event in self._sequence.feed(events):
            self._write(event, out)
            if self._done:
                return b"".join(out)
        self._start_message(out)
        return b"".join(out)

    def close(self) -> bytes:
        """The end of the message; the final counts come with it."""
        if self._done:
            return b""
        self._done = True
        if self._ended is None or self._ended.finish == "error":
            return write_error_frame(_BROKEN)
        own = keep_own_members(self._ended.extra, self._losses)
        stop = write_stop_reason(
            self._ended.finish,
            met_stop=self._ended.stop_sequence is not None,
            parts=self._written.values(),
            own=own.pop("stop_reason", None),
        )
        late = {name: own.pop(name) for name in _IN_DELTA if name in own}
        delta = {"stop_reason": stop, "stop_sequence": self._ended.stop_sequence, **late}
        end: dict[str, object] = {"type": "message_delta", "delta": delta, **own}
        end["usage"] = write_usage(self._usage)
        return write_event(end) + _STOP

    def _write(self, event: StreamEvent, out: list[bytes]) -> None:
        match event:
            case PartGrew():
                if event.logprobs is not None:
                    self._losses.add("logprobs")
                if self._block is not None:
                    self._add(self._block, event.text, out)
            case ReplyStarted():
                self._held = event
                self._reply_id = event.id
            case UsageReported(usage):
                self._usage = usage
                self._start_message(out)
            case PartStarted():
                self._start_message(out)
                self._start_part(event.part, out)
            case PartSealed():
                block = self._block
                if block is not None and isinstance(block.part, Reasoning):
                    # Clients of this format expect the proof at the end of its block.
                    block.part = replace(
                        block.part,
                        signature=event.signature or block.part.signature,
                        sealed=event.sealed or block.part.sealed,
                        origin=event.origin or block.part.origin,
                    )
                elif block is not None:
                    self._losses.add("reasoning_signature")
            case CitationAdded(_, citation):
                self._cite(citation, out)
            case PartEnded():
                self._end_part(out)
            case ChoiceEnded():
                self._start_message(out)
                self._ended = event
            case ReplyFailed():
                self._done = True
                out.append(write_error_frame(event))

    def _start_message(self, out: list[bytes]) -> None:
        """Send the beginning that was held back, if there is one."""
        held, self._held = self._held, None
        if held is None:
            return
        message: dict[str, object] = {
            "id": make_message_id(held.id),
            "type": "message",
            "role": "assistant",
            "model": self._requested_model or held.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(self._usage),
        }
        out.append(write_event({"type": "message_start", "message": message}))

    def _start_part(self, part: AnyPart, out: list[bytes]) -> None:
        self._written[type(part)] = part
        self._block = block = WrittenBlock(part)
        if isinstance(part, Foreign) and part.dialect == DIALECT:
            self._start_block(block, part.raw, out)
        elif isinstance(part, ToolCall):
            start = {
                "type": "tool_use",
                "id": make_call_id(part, self._reply_id, self._index),
                "name": part.name,
                "input": {},
                **keep_call_members(part, self._losses),
            }
            self._start_block(block, start, out)
            if part.custom:
                self._losses.add("tool:custom")
                block.quoted = True
            self._add(block, part.arguments, out)
        elif isinstance(part, Text):
            if part.signature is not None:
                self._losses.add("reasoning_signature")
            self._add(block, part.text, out)
            for citation in part.citations:
                self._cite(citation, out)
        elif isinstance(part, Reasoning | Refusal):
            self._add(block, part.text, out)
        else:
            record_lost_part(part, self._losses)

    def _start_block(self, block: WrittenBlock, start: object, out: list[bytes]) -> None:
        block.started = True
        event = {"type": "content_block_start", "index": self._index, "content_block": start}
        out.append(write_event(event))
        kind, member = _DELTAS.get(type(block.part), _DELTAS[Text])
        block.head = _HEAD % (self._index, kind, member)

    def _add(self, block: WrittenBlock, text: str, out: list[bytes]) -> None:
        if not text or type(block.part) not in _DELTAS:
            return
        if not block.started:
            if isinstance(block.part, Refusal) and "stop_details" in block.part.extra:
                return  # the same text comes with the stop reason
            start = _THINKING if isinstance(block.part, Reasoning) else _TEXT
            self._start_block(block, start, out)
        if block.quoted:
            # As it stands inside a JSON string, because it is a piece of one.
            inner = encode(text)[1:-1].decode()
            text = ('{"input": "' if block.empty else "") + inner
        block.empty = False
        out.append(block.head + encode(text) + b"}}\n\n")

    def _cite(self, citation: Citation, out: list[bytes]) -> None:
        block, written = self._block, write_citation_for_client(citation, self._losses)
        if block is None or written is None or not isinstance(block.part, Text):
            return
        if not block.started:
            self._start_block(block, _TEXT, out)
        out.append(self._delta("citations_delta", "citation", written))

    def _end_part(self, out: list[bytes]) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        part = block.part
        if isinstance(part, Reasoning):
            if not block.started and part.signature is None and part.sealed is not None:
                start = {"type": "redacted_thinking", "data": write_data(part)}
                self._start_block(block, start, out)
            elif signature := write_signature(part):
                if not block.started:
                    self._start_block(block, _THINKING, out)
                out.append(self._delta("signature_delta", "signature", signature))
        if block.quoted:
            closing = '"}' if not block.empty else '{"input": ""}'
            out.append(self._delta("input_json_delta", "partial_json", closing))
        if block.started:
            out.append(_BLOCK_STOP % self._index)
            self._index += 1

    def _delta(self, kind: str, member: str, value: str | Raw) -> bytes:
        delta = {"type": kind, member: value}
        return write_event({"type": "content_block_delta", "index": self._index, "delta": delta})
