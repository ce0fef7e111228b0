"""Events, written as the chunks of a chat completion."""

from collections.abc import Callable, Sequence
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
from .._frames import DONE_FRAME, Frames, failure_frame
from .._members import encode
from .._tools import custom_names, is_legacy, unwrapped
from ..client_replies import (
    annotation,
    call_members,
    is_hidden,
    media_members,
    reply_id,
    sealable,
)

Out = list[bytes]

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
    """Interleaved parts stay interleaved: this dialect tells them apart by number."""

    _frames: Frames

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self._asked = asked
        self._losses = losses
        self._legacy = is_legacy(asked.tools)
        self._customs = custom_names(asked.tools)
        self._hides = is_hidden(asked)
        self._choices: dict[int, _ChoiceState] = {}
        self._usage: Usage | None = None
        self._failed = False
        self._handlers: dict[type, Callable[[Any, Out], None]] = {
            PartGrew: self._grow,
            PartStarted: self._start_part,
            PartEnded: self._end_part,
            PartSealed: self._seal,
            CitationAdded: self._cite,
            UsageReported: self._count,
            ChoiceEnded: self._end,
            ReplyStarted: self._start,
            ReplyFailed: self._fail,
        }

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if len(events) == 1 and type(events[0]) is PartGrew:
            return self._only(events[0])
        out: Out = []
        handlers, choices = self._handlers, self._choices
        texts: list[str] = []  # of one part, all still to be written
        part, choice = -1, -1
        for event in events:
            if type(event) is PartGrew and event.logprobs is None:
                if event.index == part and event.choice == choice:
                    texts.append(event.text)
                    continue
                if texts:
                    self._grow_all(part, choice, texts, out)
                    texts, part = [], -1
                slot = choices[event.choice].slots[event.index]
                if slot.is_text and not slot.gap:
                    texts, part, choice = [event.text], event.index, event.choice
                    continue
            elif texts:
                self._grow_all(part, choice, texts, out)
                texts, part = [], -1
            handlers[type(event)](event, out)
        if texts:
            self._grow_all(part, choice, texts, out)
        return escape_line_separators(b"".join(out))

    def _only(self, event: PartGrew) -> bytes:
        """All that most calls are about."""
        state = self._choices[event.choice]
        slot = state.slots[event.index]
        if slot.is_text and not slot.gap and event.logprobs is None:
            state.length += len(event.text)
            return escape_line_separators(slot.before + encode(event.text) + slot.after)
        out: Out = []
        self._grow(event, out)
        return escape_line_separators(b"".join(out))

    def _grow_all(self, part: int, choice: int, texts: list[str], out: Out) -> None:
        """Add texts to a text part, each in a chunk of its own."""
        state = self._choices[choice]
        slot = state.slots[part]
        state.length += len("".join(texts))
        between = slot.after + slot.before
        out += (slot.before, between.join(map(encode, texts)), slot.after)

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._choices:
            return failure_frame(ReplyFailed(CUT_SHORT))
        usage = b""
        if self._usage is not None and self._asked.stream_usage:
            usage = self._frames.usage(self._usage)
        return usage + DONE_FRAME

    def _start(self, event: ReplyStarted, out: Out) -> None:
        self._frames = Frames(
            event,
            reply_id(event.id),
            event.model or self._asked.model,
            "chat.completion.chunk",
            self._asked.stream_usage,
        )
        self._choice(0, out)

    def _fail(self, event: ReplyFailed, out: Out) -> None:
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
        part = event.part
        slot = state.slots[event.index] = self._slot(part, state, event.choice, out)
        state.parts.append(part)
        if slot.is_text:
            slot.gap = "\n\n" if state.apart and state.length else ""
            slot.start = state.length + len(slot.gap)
        state.apart = not slot.is_text
        if isinstance(part, Text | Reasoning | Refusal) and part.text:
            self._grow(PartGrew(event.index, part.text, event.choice), out)
        for citation in part.citations if isinstance(part, Text) else ():
            self._cite(CitationAdded(event.index, citation, event.choice), out)

    def _slot(self, part: AnyPart, state: _ChoiceState, choice: int, out: Out) -> _Slot:
        if isinstance(part, ToolCall):
            return self._start_call(part, state, choice, out)
        if isinstance(part, Text):
            return self._growing(part, b"content", choice)
        if isinstance(part, Refusal):
            return self._growing(part, b"refusal", choice)
        if isinstance(part, Reasoning) and not self._hides:
            slot = self._growing(part, b"reasoning_content", choice)
            slot.gap = "\n\n" if state.thought else ""
            return slot
        if isinstance(part, Media):
            self._show(part, choice, out)
        elif isinstance(part, Foreign):
            self._losses.add(f"part:{part.type}")
        return _Slot(part)

    def _growing(self, part: AnyPart, member: bytes, choice: int) -> _Slot:
        before = self._frames.head(choice, b'"delta":{"%b":' % member)
        return _Slot(part, before, b"}," + self._frames.tail)

    def _start_call(self, part: ToolCall, state: _ChoiceState, choice: int, out: Out) -> _Slot:
        number = state.calls
        state.calls += 1
        if self._legacy:
            return self._start_older(part, number, choice, out)
        call_id = seal_id(part.id, part.origin, part.signature, state.pending)
        state.pending = []
        slot = _Slot(replace(part, id=call_id, signature=None))
        slot.number = number
        if part.name in self._customs and not part.custom:
            return slot  # its text is among arguments that are not whole yet
        delta = {"index": number, **call_members(call_id, part, part.arguments)}
        self._send({"tool_calls": [delta]}, choice, out)
        names = (b"custom", b"input") if part.custom else (b"function", b"arguments")
        member = b'"delta":{"tool_calls":[{"index":%d,"%b":{"%b":' % (number, *names)
        slot.before = self._frames.head(choice, member)
        slot.after = b"}}]}," + self._frames.tail
        return slot

    def _start_older(self, part: ToolCall, number: int, choice: int, out: Out) -> _Slot:
        """An older client has room for one call, and for no id."""
        if number:
            self._losses.add("parallel_tools")
            return _Slot(None)
        if part.signature is not None:
            self._losses.add("reasoning_signature")
        self._send({"function_call": {"name": part.name, "arguments": part.arguments}}, choice, out)
        before = self._frames.head(choice, b'"delta":{"function_call":{"arguments":')
        return _Slot(part, before, b"}}," + self._frames.tail)

    def _show(self, part: Media, choice: int, out: Out) -> None:
        written = media_members(part)
        if written is None:
            self._losses.add(part.kind)
        else:
            member = {"audio": written} if part.kind == "audio" else {"images": [written]}
            self._send(member, choice, out)

    def _send(self, delta: dict[str, Any], choice: int, out: Out) -> None:
        out += (self._frames.head(choice, b'"delta":%b,' % encode(delta)), self._frames.tail)

    def _seal(self, event: PartSealed, out: Out) -> None:
        slot = self._choices[event.choice].slots[event.index]
        part = slot.part
        if not isinstance(part, Reasoning):
            self._losses.add("reasoning_signature")  # its id, or its text, is already sent
            return
        if event.signature is not None:
            part = replace(part, signature=event.signature, origin=event.origin)
        if event.sealed is not None:
            part = replace(part, sealed=event.sealed, origin=event.origin)
        slot.part = part

    def _cite(self, event: CitationAdded, out: Out) -> None:
        start = self._choices[event.choice].slots[event.index].start
        written = annotation(event.citation, start, self._losses)
        if written is not None:
            self._send({"annotations": [written]}, event.choice, out)

    def _end_part(self, event: PartEnded, out: Out) -> None:
        state = self._choices[event.choice]
        slot = state.slots[event.index]
        part = slot.part
        if isinstance(part, Reasoning):
            text = "".join(slot.grown)
            state.thought = state.thought or bool(text)
            state.pending += sealable(replace(part, text=text))
        elif isinstance(part, ToolCall):
            self._end_call(part, slot, event.choice, out)
        elif part is not None and part.signature is not None:
            self._losses.add("reasoning_signature")

    def _end_call(self, part: ToolCall, slot: _Slot, choice: int, out: Out) -> None:
        text = part.arguments + "".join(slot.grown)
        if not slot.before:
            whole = unwrapped(replace(part, arguments=text))
            delta = {"index": slot.number, **call_members(part.id, whole, "")}
            self._send({"tool_calls": [delta]}, choice, out)
        elif not text and not part.custom:
            out += (slot.before, b'"{}"', slot.after)

    def _count(self, event: UsageReported, out: Out) -> None:
        self._usage = event.usage

    def _end(self, event: ChoiceEnded, out: Out) -> None:
        state = self._choice(event.choice, out)
        if state.pending:
            self._losses.add("reasoning_signature")
        word = write_finish(event.finish, state.parts, legacy=self._legacy)
        out.append(self._frames.finish(event.choice, b'"delta":{}', word))
