"""Events to a whole reply, and a whole reply to events.

With these two folds a format that is right when it streams is right when it
does not: a whole reply is a folded stream.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Finish,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
)

_tokens = msgspec.json.Decoder(dict[str, Raw])
_list = msgspec.json.Decoder(list[Raw])


@dataclass(slots=True)
class _OpenPart:
    part: AnyPart
    texts: list[str] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    def build(self) -> AnyPart:
        part, text = self.part, "".join(self.texts)
        if isinstance(part, ToolCall):
            return replace(part, arguments=part.arguments + text) if text else part
        if isinstance(part, Text):
            if text or self.citations:
                cited = (*part.citations, *self.citations)
                return replace(part, text=part.text + text, citations=cited)
            return part
        if isinstance(part, Refusal | Reasoning) and text:
            return replace(part, text=part.text + text)
        return part


@dataclass(slots=True)
class _OpenChoice:
    parts: dict[int, _OpenPart] = field(default_factory=dict)
    logprobs: dict[str, list[Raw]] = field(default_factory=dict)
    ended: ChoiceEnded | None = None

    def build(self) -> Choice:
        ended = self.ended or ChoiceEnded("stop")
        return Choice(
            parts=tuple(self.parts[index].build() for index in sorted(self.parts)),
            finish=ended.finish,
            stop_sequence=ended.stop_sequence,
            logprobs=Raw(msgspec.json.encode(self.logprobs)) if self.logprobs else None,
            extra=ended.extra,
            failure=ended.failure,
        )


class Gatherer:
    """Builds a reply from the events of its stream."""

    def __init__(self) -> None:
        self._started: ReplyStarted | None = None
        self._choices: dict[int, _OpenChoice] = {}
        self._usage: Usage | None = None
        self._failed: ReplyFailed | None = None

    def feed(self, events: Iterable[StreamEvent]) -> None:
        for event in events:
            match event:
                case PartGrew(index, text, choice, logprobs):
                    self._choice(choice).parts[index].texts.append(text)
                    if logprobs is not None:
                        held = self._choice(choice).logprobs
                        for name, rows in _tokens.decode(logprobs).items():
                            if bytes(rows) != b"null":
                                held.setdefault(name, []).extend(_list.decode(rows))
                case PartStarted(index, part, choice):
                    self._choice(choice).parts[index] = _OpenPart(part)
                case PartSealed():
                    held_part = self._choice(event.choice).parts[event.index]
                    part = held_part.part
                    if event.signature is not None:
                        part = replace(part, signature=event.signature, origin=event.origin)
                    if event.sealed is not None and isinstance(part, Reasoning):
                        part = replace(part, sealed=event.sealed, origin=event.origin)
                    held_part.part = part
                case CitationAdded(index, citation, choice):
                    self._choice(choice).parts[index].citations.append(citation)
                case UsageReported(usage):
                    self._usage = usage
                case ChoiceEnded():
                    self._choice(event.choice).ended = event
                case ReplyStarted():
                    self._started = event
                case ReplyFailed():
                    self._failed = event
                case PartEnded():
                    pass

    def reply(self) -> Reply:
        """The whole reply. Raises UpstreamError when the stream failed or never began."""
        if self._failed is not None:
            raise as_error(self._failed)
        if self._started is None:
            raise UpstreamError("The upstream gave an empty answer")
        started = self._started
        return Reply(
            id=started.id,
            model=started.model,
            created=started.created,
            choices=tuple(self._choices[index].build() for index in sorted(self._choices)),
            usage=self._usage,
            extra=started.extra,
        )

    def _choice(self, index: int) -> _OpenChoice:
        return self._choices.setdefault(index, _OpenChoice())


def gather(events: Iterable[StreamEvent]) -> Reply:
    """The reply that a whole stream describes. Raises UpstreamError."""
    gatherer = Gatherer()
    gatherer.feed(events)
    return gatherer.reply()


def unfold(reply: Reply) -> list[StreamEvent]:
    """The events of a stream that describes this reply."""
    events: list[StreamEvent] = [ReplyStarted(reply.id, reply.model, reply.created, reply.extra)]
    for index, choice in enumerate(reply.choices):
        for position, part in enumerate(choice.parts):
            last = position == len(choice.parts) - 1
            logprobs = choice.logprobs if last else None
            text = ""
            citations: tuple[Citation, ...] = ()
            start = part
            if isinstance(part, ToolCall):
                text, start = part.arguments, replace(part, arguments="")
            elif isinstance(part, Text):
                text, citations = part.text, part.citations
                start = replace(part, text="", citations=())
            elif isinstance(part, Refusal | Reasoning):
                text, start = part.text, replace(part, text="")
            events.append(PartStarted(position, start, index))
            if text or logprobs is not None:
                events.append(PartGrew(position, text, index, logprobs))
            events += (CitationAdded(position, citation, index) for citation in citations)
            events.append(PartEnded(position, index))
    if reply.usage is not None:
        events.append(UsageReported(reply.usage))
    events += (
        ChoiceEnded(choice.finish, index, choice.stop_sequence, choice.extra, choice.failure)
        for index, choice in enumerate(reply.choices)
    )
    return events


def as_error(failed: ReplyFailed) -> UpstreamError:
    """A failure in a stream as the error it would have been before it."""
    return UpstreamError(
        failed.message,
        status=failed.status,
        kind=failed.kind,
        code=failed.code,
        retry_after=failed.retry_after,
    )


def as_failure(error: UpstreamError) -> ReplyFailed:
    """An error as the event that ends a stream which had begun."""
    return ReplyFailed(error.message, error.kind, error.code, error.status, error.retry_after)


def default_finish(parts: Iterable[AnyPart]) -> Finish:
    """Why an answer with these parts ended, when its vendor only says that it did."""
    return "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
