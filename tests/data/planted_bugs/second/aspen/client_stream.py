"""Streams that clients get."""

from collections.abc import Sequence

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Finish,
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
)
from gateway_formats.sequence import Sequencer
from gateway_formats.sse import write_frame

from ._wire_types import (
    CallPart,
    End,
    Event,
    Failed,
    Start,
    TextPart,
    ThoughtPart,
    TokenCounts,
    encode,
)
from .vendor_requests import note_part
from .vendor_stream import FINISHES

FINISH_WORDS = {finish: word for word, finish in FINISHES.items()} | {"refusal": "filter"}


class Writer:
    """Events to this format's stream: parts one after another, calls whole, and the end last."""

    def __init__(self, conversation: Conversation, losses: Losses) -> None:
        self._losses = losses
        self._parts = Sequencer()
        self._call: ToolCall | None = None
        self._arguments = ""
        self._kind: type[TextPart | ThoughtPart] = TextPart
        self._usage: Usage | None = None
        self._finish: Finish = "stop"
        self._met: str | None = None
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        return b"".join(write_frame(encode(event)) for event in self.convert(events))

    def close(self) -> bytes:
        return b"" if self._failed else write_frame(encode(self.end()))

    def end(self) -> End:
        return End(FINISH_WORDS.get(self._finish, "stop"), counts_of(self._usage), self._met)

    def convert(self, events: Sequence[StreamEvent]) -> list[Event]:
        """The events of this format for the gateway's, before they are put into frames."""
        if any(getattr(event, "choice", 0) for event in events):
            self._losses.add("candidates")
        if any(getattr(event, "logprobs", None) is not None for event in events):
            self._losses.add("logprobs")
        ordered = self._parts.feed(events)
        return [row for event in ordered if not self._failed for row in self._take(event)]

    def _take(self, event: StreamEvent) -> Sequence[Event]:
        match event:
            case ReplyStarted():
                return (Start(event.id, event.model),)
            case PartStarted(part=part):
                return self._begin(part)
            case PartGrew(text=text) if self._call is not None:
                self._arguments += text
            case PartGrew(text=text):
                return (self._kind(text),) if text else ()
            case PartEnded() if self._call is not None:
                call, self._call = self._call, None
                return (CallPart(call.id, call.name, self._arguments),)
            case PartSealed():
                self._losses.add("reasoning_signature")
            case CitationAdded():
                self._losses.add("citations")
            case UsageReported(usage):
                self._usage = usage
            case ChoiceEnded():
                self._finish = event.finish
                self._met = event.stop_sequence
            case ReplyFailed():
                self._failed = True
                return (Failed(event.message, event.kind),)
        return ()

    def _begin(self, part: AnyPart) -> Sequence[Event]:
        note_part(part, self._losses)
        if isinstance(part, Media):
            self._losses.add(part.kind)
        if isinstance(part, ToolCall):
            self._call, self._arguments = part, part.arguments
        elif isinstance(part, Text | Refusal | Reasoning):
            self._kind = ThoughtPart if isinstance(part, Reasoning) else TextPart
            return (self._kind(part.text),) if part.text else ()
        return ()


def counts_of(usage: Usage | None) -> TokenCounts | None:
    if usage is None:
        return None
    fresh = usage.input_tokens - usage.cached_tokens
    return TokenCounts(fresh, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
