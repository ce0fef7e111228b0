"""Events, written as the chunks of a chat completion."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Foreign,
    Losses,
    Media,
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
    seal_id,
)
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.relay import CUT_SHORT

from .._finish import write_finish
from .._frames import DONE_FRAME, ChunkFrames, failure_frame
from .._members import encode
from .._tools import custom_names, is_legacy, unwrap_custom_call
from ..client_replies import (
    annotation,
    call_members,
    is_hidden,
    media_members,
    reply_id,
    sealable,
)

Out = list[bytes]

_KIND = "chat.completion.chunk"
# The role comes first and once, with an empty content:
# https://platform.openai.com/docs/api-reference/chat/streaming
_ROLE = b'"delta":{"role":"assistant","content":""},'


class _Slot:
    """One part that is being written."""

    __slots__ = ("after", "before", "gap", "grown", "is_text", "number", "part", "start")

    def __init__(self, part: AnyPart | None, before: bytes = b"", after: bytes = b"") -> None:
        self.part = part
        """``None`` for a part that is left out."""
        self.before = before
        """Everything of a chunk before the text; empty when the part is not shown as it grows."""
        self.after = after
        self.gap = ""
        """What goes before the first text."""
        self.start = 0
        """Where a text part begins in the answer's text."""
        self.number = 0
        """Of a tool call, among the choice's calls."""
        self.grown: list[str] = []
        self.is_text = isinstance(part, Text)


class _ChoiceState:
    __slots__ = ("apart", "calls", "length", "parts", "pending", "slots", "thought")

    def __init__(self) -> None:
        self.slots: dict[int, _Slot] = {}
        self.calls = 0
        self.length = 0
        """Of the text so far, characters."""
        self.apart = False
        """Whether the part before was no text."""
        self.thought = False
        self.pending: list[Reasoning] = []
        """Thinking that the next tool call's id will carry."""
        self.parts: list[AnyPart] = []


class ChatWriter:
    """Interleaved parts stay interleaved: this dialect gives each call a number."""

    _frames: ChunkFrames

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._request = request
        self._losses = losses
        self._legacy = is_legacy(request.tools)
        self._customs = custom_names(request.tools)
        self._hides_thinking = is_hidden(request)
        self._choices: dict[int, _ChoiceState] = {}
        self._usage: Usage | None = None
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        out: Out = []
        for event in events:
            self._write(event, out)
        return escape_line_separators(b"".join(out))

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._choices:
            return failure_frame(ReplyFailed(CUT_SHORT))
        usage = b""
        if self._usage is not None and self._request.stream_usage:
            # The last chunk before the end marker, with no choices:
            # https://platform.openai.com/docs/api-reference/chat/streaming
            usage = self._frames.usage(self._usage)
        return usage + DONE_FRAME

    def _write(self, event: StreamEvent, out: Out) -> None:
        match event:
            case PartGrew():
                self._grow(event, out)
            case PartStarted():
                self._start_part(event, out)
            case PartEnded():
                self._end_part(event, out)
            case PartSealed():
                slot = self._choices[event.choice].slots[event.index]
                if isinstance(slot.part, Reasoning):
                    if event.signature is not None:
                        slot.part = replace(
                            slot.part, signature=event.signature, origin=event.origin
                        )
                    if event.sealed is not None:
                        slot.part = replace(slot.part, sealed=event.sealed, origin=event.origin)
                else:
                    self._losses.add("reasoning_signature")  # its id or text is already sent
            case CitationAdded():
                start = self._choices[event.choice].slots[event.index].start
                source = annotation(event.citation, start, self._losses)
                if source is not None:
                    self._send({"annotations": [source]}, event.choice, out)
            case UsageReported():
                self._usage = event.usage
            case ChoiceEnded():
                state = self._choice(event.choice, out)
                if state.pending:
                    self._losses.add("reasoning_signature")
                word = write_finish(event.finish, state.parts, legacy=self._legacy)
                out.append(self._frames.finish(event.choice, b'"delta":{}', word))
            case ReplyStarted():
                model = event.model or self._request.model
                wants_usage = self._request.stream_usage
                self._frames = ChunkFrames(event, reply_id(event.id), model, _KIND, wants_usage)
                self._choice(0, out)
            case ReplyFailed():
                self._failed = True
                out.append(failure_frame(event))

    def _choice(self, index: int, out: Out) -> _ChoiceState:
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _ChoiceState()
            out += (self._frames.head(index, _ROLE), self._frames.tail)
        return state

    def _grow(self, event: PartGrew, out: Out) -> None:
        state = self._choices[event.choice]
        slot = state.slots[event.index]
        text = event.text
        if not slot.is_text:
            slot.grown.append(text)
            if not slot.before:
                return
        if slot.gap and text:
            text, slot.gap = slot.gap + text, ""
        if slot.is_text:
            state.length += len(text)
        if event.logprobs is None:
            out += (slot.before, encode(text), slot.after)
        else:
            tail = self._frames.with_tokens(bytes(event.logprobs))
            out += (slot.before, encode(text), slot.after[: -len(self._frames.tail)], tail)

    def _start_part(self, event: PartStarted, out: Out) -> None:
        state = self._choice(event.choice, out)
        part, choice = event.part, event.choice
        slot: _Slot | None = None
        match part:
            case ToolCall() if self._legacy:
                # function_call has room for one call, and for no id.
                state.calls += 1
                if state.calls > 1:
                    self._losses.add("parallel_tools")
                    slot = _Slot(None)
                else:
                    if part.signature is not None:
                        self._losses.add("reasoning_signature")
                    call = {"name": part.name, "arguments": part.arguments}
                    self._send({"function_call": call}, choice, out)
                    before = self._frames.head(choice, b'"delta":{"function_call":{"arguments":')
                    slot = _Slot(part, before, b"}}," + self._frames.tail)
            case ToolCall():
                slot = self._start_call(part, state, choice, out)
            case Text():
                slot = self._growing(part, b"content", choice)
            case Refusal():
                slot = self._growing(part, b"refusal", choice)
            case Reasoning() if not self._hides_thinking:
                slot = self._growing(part, b"reasoning_content", choice)
                slot.gap = "\n\n" if state.thought else ""
            case Media():
                media = media_members(part)
                if media is None:
                    self._losses.add(part.kind)
                else:
                    members = {"audio": media} if part.kind == "audio" else {"images": [media]}
                    self._send(members, choice, out)
            case Foreign():
                self._losses.add(f"part:{part.type}")
            case _:
                pass
        slot = state.slots[event.index] = slot or _Slot(part)
        state.parts.append(part)
        if slot.is_text:
            slot.gap = "\n\n" if state.apart and state.length else ""
            slot.start = state.length + len(slot.gap)
        state.apart = not slot.is_text
        if isinstance(part, Text | Reasoning | Refusal) and part.text:
            self._grow(PartGrew(event.index, part.text, event.choice), out)
        for citation in part.citations if isinstance(part, Text) else ():
            self._write(CitationAdded(event.index, citation, event.choice), out)

    def _growing(self, part: AnyPart, member: bytes, choice: int) -> _Slot:
        before = self._frames.head(choice, b'"delta":{"%b":' % member)
        return _Slot(part, before, b"}," + self._frames.tail)

    def _start_call(self, part: ToolCall, state: _ChoiceState, choice: int, out: Out) -> _Slot:
        call_id = seal_id(part.id, part.origin, part.signature, state.pending)
        state.pending = []
        slot = _Slot(replace(part, id=call_id, signature=None))
        slot.number = state.calls
        state.calls += 1
        if part.name in self._customs and not part.custom:
            return slot  # its text is among arguments that are not whole yet
        delta = {"index": slot.number, **call_members(call_id, part, part.arguments)}
        self._send({"tool_calls": [delta]}, choice, out)
        names = (b"custom", b"input") if part.custom else (b"function", b"arguments")
        member = b'"delta":{"tool_calls":[{"index":%d,"%b":{"%b":' % (slot.number, *names)
        slot.before = self._frames.head(choice, member)
        slot.after = b"}}]}," + self._frames.tail
        return slot

    def _send(self, delta: dict[str, Any], choice: int, out: Out) -> None:
        out += (self._frames.head(choice, b'"delta":%b,' % encode(delta)), self._frames.tail)

    def _end_part(self, event: PartEnded, out: Out) -> None:
        state = self._choices[event.choice]
        slot = state.slots[event.index]
        part, text = slot.part, "".join(slot.grown)
        if isinstance(part, Reasoning):
            state.thought = state.thought or bool(text)
            state.pending += sealable(replace(part, text=text))
        elif isinstance(part, ToolCall):
            text = part.arguments + text
            if not slot.before:
                call = unwrap_custom_call(replace(part, arguments=text))
                delta = {"index": slot.number, **call_members(part.id, call, "")}
                self._send({"tool_calls": [delta]}, event.choice, out)
            elif not text and not part.custom:
                # Clients parse the arguments, and an empty text is no JSON.
                out += (slot.before, b'"{}"', slot.after)
        elif part is not None and part.signature is not None:
            self._losses.add("reasoning_signature")
