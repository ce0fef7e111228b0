"""Whole answers that clients get, written by way of the same writer as a stream."""

from msgspec.structs import replace

from gateway_core import Choice, Conversation, Losses, Reply
from gateway_formats.fold import unfold

from ._wire_types import Answer, CallPart, TextPart, ThoughtPart, encode
from .client_stream import Writer


def write_reply(reply: Reply, conversation: Conversation, losses: Losses) -> bytes:
    """Write the first choice; this format has one answer."""
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    if choice.logprobs is not None:
        losses.add("logprobs")
    writer = Writer(conversation, losses)
    events = writer.convert(unfold(replace(reply, choices=(choice,))))
    parts = [each for each in events if isinstance(each, TextPart | ThoughtPart | CallPart)]
    end = writer.end()
    return encode(Answer(reply.id, reply.model, parts, end.finish, end.usage, end.met))
