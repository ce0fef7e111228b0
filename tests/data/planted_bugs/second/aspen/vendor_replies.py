"""Whole answers that vendors send, read by way of the same events as a stream."""

from gateway_core import Reply, ReplyFailed, UpstreamError
from gateway_formats.fold import as_error, gather

from ._wire_types import UNREADABLE, Answer, End, Failed, Start, decode_answer
from .vendor_stream import EventReader


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError."""
    answer = read_answer(body)
    reader = EventReader()
    start, end = Start(answer.id, answer.model), End(answer.finish, answer.usage, answer.met)
    return gather(event for row in (start, *answer.parts, end) for event in reader.take(row))


def read_answer(body: bytes) -> Answer:
    """Raises UpstreamError for bytes that cannot be read, and for an error with status 200."""
    try:
        answer = decode_answer(body)
    except UNREADABLE:
        raise UpstreamError("The upstream gave an answer that could not be read") from None
    if isinstance(answer, Failed):
        raise as_error(ReplyFailed(answer.message, answer.kind))
    return answer
