"""Write a whole reply: the object that ends a stream of it."""

from gateway_core import (
    Choice,
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Reply,
    ReplyStarted,
    StreamEvent,
    Text,
    UsageReported,
)

from .._logprobs import split_rows
from .._output_items import text_of, without_text
from ..client_stream import Writer


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """The whole answer, which is what a stream of it would end with."""
    writer = Writer(request, losses)
    writer.feed(events_of(reply, losses))
    return writer.response()


def events_of(reply: Reply, losses: Losses) -> list[StreamEvent]:
    """A stream that amounts to the first choice of a reply."""
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    rows = iter(split_rows(choice))
    events: list[StreamEvent] = [ReplyStarted(reply.id, reply.model, reply.created)]
    for index, part in enumerate(choice.parts):
        logprobs = next(rows) if isinstance(part, Text) else None
        events.append(PartStarted(index, without_text(part)))
        if (text := text_of(part)) or logprobs is not None:
            events.append(PartGrew(index, text, 0, logprobs))
        if isinstance(part, Text):
            events += (CitationAdded(index, citation) for citation in part.citations)
        if isinstance(part, Reasoning) and part.sealed is not None:
            events.append(PartSealed(index, sealed=part.sealed, origin=part.origin))
        events.append(PartEnded(index))
    if reply.usage is not None:
        events.append(UsageReported(reply.usage))
    events.append(ChoiceEnded(choice.finish, 0, choice.stop_sequence))
    return events
