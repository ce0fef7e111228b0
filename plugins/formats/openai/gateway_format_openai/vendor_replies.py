"""A vendor's whole reply, read. It is one large chunk of a stream."""

from collections.abc import Mapping

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Reply, StreamEvent, UpstreamError
from gateway_formats.fold import gather
from gateway_formats.streamed_replies import is_stream, read_stream

from ._chunks import (
    CHOICE_MEMBERS,
    CHUNK_MEMBERS,
    MESSAGE_MEMBERS,
    read_choices,
    read_chunk,
    read_members,
)
from ._members import DIALECT, UNREADABLE, encode, is_null, is_object
from ._shared import SHARED
from .errors import read_failure
from .vendor_stream import EMPTY, ChatReader, VendorAnswer

UNREAD = "The upstream gave an answer that could not be read"


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    if is_stream(body):
        return replace(read_stream(body, ChatReader()), dialect=DIALECT)
    try:
        chunk = read_chunk(body)
        events: list[StreamEvent] = []
        answer = VendorAnswer(is_whole=True)
        answer.take(chunk, body, events)
        if answer.failed:
            if failure := read_failure(body):
                raise failure
            gather(events)  # raises the error that the events end with
            raise UpstreamError(UNREAD)
        if not chunk.choices:
            raise UpstreamError(EMPTY)
        answer.close(events, marked=True)
        reply = gather(events)
        # Each choice's unknown members, those of its message under ``message``, by index.
        extra_by_index: dict[int, dict[str, Raw]] = {}
        for members in read_choices(body).choices:
            choice_extra = _unknown(members, CHOICE_MEMBERS)
            message = members.get("message") or members.get("delta")
            if message is not None and is_object(message):
                inner = _unknown(read_members(message), MESSAGE_MEMBERS)
                if inner:
                    choice_extra["message"] = Raw(encode(inner))
            number = bytes(members.get("index") or b"0")
            index = int(number) if number.lstrip(b"-").isdigit() else 0
            extra_by_index.setdefault(index, choice_extra)
        extras = [extra_by_index[index] for index in sorted(extra_by_index)]
        # These are kept as citations and shared members already.
        known = CHUNK_MEMBERS - set(SHARED) - {"citations", "search_results"}
        extra = _unknown(read_members(body), known)
    except UNREADABLE:
        raise read_failure(body) or UpstreamError(UNREAD) from None
    choices = tuple(
        replace(choice, extra=each) for choice, each in zip(reply.choices, extras, strict=True)
    )
    return replace(reply, choices=choices, dialect=DIALECT, extra=extra)


def _unknown(members: Mapping[str, Raw], known: frozenset[str]) -> dict[str, Raw]:
    return {name: raw for name, raw in members.items() if name not in known and not is_null(raw)}
