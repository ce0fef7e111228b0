"""Write a stream's events for a client, a line each."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Conversation,
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
from gateway_formats.ndjson import escape_line_separators

from ._lines import own_logprobs, time_of
from .client_replies import call_row, ending, is_signed, note_part
from .errors import error_line

_encode = msgspec.json.encode
_LOSSES = (
    b'{"model":"","created_at":"1970-01-01T00:00:00Z","message":{"role":"assistant","content":""},'
    b'"done":false,"x-gateway-dropped":%b}\n'
)
_STREAM_END = b'},"done":false}\n'


def write_losses(names: bytes) -> bytes:
    """A line without text whose further member names what was lost. A line has no comments, and
    clients pass over members that they do not know."""
    return _LOSSES % _encode(names.decode())


class _Open:
    """A part that is under way: where its text goes, and what must wait for its end."""

    __slots__ = ("grown", "head", "part")

    def __init__(self, part: AnyPart, head: bytes) -> None:
        self.part = part
        self.head = head
        self.grown: list[str] | None = [] if isinstance(part, Reasoning | ToolCall) else None


class Writer:
    """Events to lines: one for each piece of text, one for each whole tool call."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._losses = losses
        self._model = request.model
        self._created: int | None = None
        self._parts: dict[int, _Open] = {}
        self._thoughts: list[Reasoning] = []
        self._ended: dict[int, ToolCall] = {}
        """Calls that are whole and wait for an earlier one, by their place."""
        self._calls = 0
        self._finish = "stop"
        self._usage: Usage | None = None
        self._failed = False
        self._begin()

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        written: list[bytes] = []
        for event in events:
            if self._failed:
                break
            if isinstance(event, PartGrew):
                if event.choice:
                    self._losses.add("candidates")
                elif (growing := self._parts.get(event.index)) is not None:
                    if growing.grown is not None:
                        growing.grown.append(event.text)
                    if growing.head:
                        self._write_text(growing.head, event.text, event.logprobs, written)
            else:
                match event:
                    case ReplyStarted():
                        self._model, self._created = event.model or self._model, event.created
                        self._begin()
                    case UsageReported(usage):
                        self._usage = usage
                    case ReplyFailed():
                        self._failed = True
                        written.append(error_line(event.message))
                    case _ if event.choice:
                        self._losses.add("candidates")
                    case PartStarted(index, part):
                        note_part(part, self._losses)
                        head = b""
                        if isinstance(part, Text | Refusal | Reasoning):
                            is_thinking = isinstance(part, Reasoning)
                            head = self._thinking if is_thinking else self._content
                            self._write_text(head, part.text, None, written)
                        self._parts[index] = _Open(part, head)
                    case PartSealed():
                        if (open_part := self._parts.get(event.index)) is None:
                            continue
                        changes: dict[str, Any] = {"origin": event.origin}
                        if event.signature is not None:
                            changes["signature"] = event.signature
                        if event.sealed is not None and isinstance(open_part.part, Reasoning):
                            changes["sealed"] = event.sealed
                        open_part.part = replace(open_part.part, **changes)
                    case PartEnded(index):
                        self._end(index, written)
                    case CitationAdded():
                        self._losses.add("citations")
                    case ChoiceEnded():
                        self._finish = event.finish
                        if event.stop_sequence is not None:
                            self._losses.add("stop_sequence")
        return escape_line_separators(b"".join(written))

    def close(self) -> bytes:
        """The last line, unless the stream has failed."""
        if self._failed:
            return b""
        written: list[bytes] = []
        for index in sorted(self._parts):
            self._end(index, written)
        if is_signed(self._thoughts):
            self._losses.add("reasoning_signature")
        # Why it ended and the counts stand in the last line only: https://github.com/ollama/ollama/blob/main/docs/api.md
        last = _encode(ending(self._finish, self._usage))
        written.append(b'%b""},%b\n' % (self._head(b"content"), last[1:]))
        return escape_line_separators(b"".join(written))

    def _begin(self) -> None:
        """Write what every line of this stream begins with, once."""
        # The beginning of every line of a stream is the same, so it is encoded once.
        named = {"model": self._model, "created_at": time_of(self._created)}
        self._prefix = _encode(named)[:-1] + b',"message":{"role":"assistant",'
        self._content = self._head(b"content")
        self._thinking = self._head(b"content") + b'"","thinking":'

    def _head(self, member: bytes) -> bytes:
        return b'%b"%b":' % (self._prefix, member)

    def _write_text(
        self, head: bytes, text: str, logprobs: Raw | None, written: list[bytes]
    ) -> None:
        tokens = own_logprobs(logprobs) if logprobs is not None else None
        if tokens:
            end = b'},"logprobs":%b,"done":false}\n' % _encode(tokens)
            written.append(head + _encode(text) + end)
        elif text:
            written.append(head + _encode(text) + _STREAM_END)

    def _end(self, index: int, written: list[bytes]) -> None:
        ended = self._parts.pop(index, None)
        if ended is None or ended.grown is None:
            return
        part, grown = ended.part, "".join(ended.grown)
        if isinstance(part, Reasoning):
            self._thoughts.append(replace(part, text=part.text + grown))
        if not isinstance(part, ToolCall):
            return
        self._ended[index] = replace(part, arguments=part.arguments + grown)
        # Calls go out in the order in which they began: clients answer them by place.
        open_calls = [i for i, other in self._parts.items() if isinstance(other.part, ToolCall)]
        for index in sorted(self._ended):
            # Events of parallel calls may interleave; an earlier call may still be growing.
            if open_calls and min(open_calls) < index:
                return
            row = call_row(self._ended.pop(index), self._calls, self._thoughts)
            member = b'"",%b' % _encode({"tool_calls": [row]})[1:-1]
            written.append(self._content + member + _STREAM_END)
            self._calls += 1
            self._thoughts = []
