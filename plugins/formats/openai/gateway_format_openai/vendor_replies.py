"""A vendor's whole reply, read. It is one large chunk of a stream."""

from collections.abc import Mapping, Sequence

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Reply, StreamEvent, UpstreamError
from gateway_formats.fold import gather

from ._chunks import (
    CHOICE_MEMBERS,
    CHUNK_MEMBERS,
    MESSAGE_MEMBERS,
    read_choices,
    read_chunk,
    read_members,
)
from ._members import DIALECT, UNREADABLE, encode, first
from ._shared import SHARED
from .errors import read_failure
from .vendor_replies_plain import read_plain
from .vendor_stream import EMPTY, Answer

UNREAD = "The upstream gave an answer that could not be read"


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    return read_plain(body) or _read_any(body)


def _read_any(body: bytes) -> Reply:
    try:
        return _reply(body)
    except UNREADABLE:
        raise read_failure(body) or UpstreamError(UNREAD) from None


def _reply(body: bytes) -> Reply:
    events: list[StreamEvent] = []
    answer = Answer(is_whole=True)
    chunk = read_chunk(body)
    answer.take(chunk, body, events)
    if answer.failed:
        raise read_failure(body) or gather_failure(events)
    if not chunk.choices:
        raise UpstreamError(EMPTY)
    answer.close(events, marked=True)
    reply = gather(events)
    extras = _choice_extras(body)
    choices = tuple(
        replace(choice, extra=extra) for choice, extra in zip(reply.choices, extras, strict=True)
    )
    return replace(reply, choices=choices, dialect=DIALECT, extra=_extra(body))


def gather_failure(events: Sequence[StreamEvent]) -> UpstreamError:
    """The error that these events end with."""
    try:
        gather(events)
    except UpstreamError as error:
        return error
    return UpstreamError(UNREAD)


def _extra(body: bytes) -> dict[str, Raw]:
    known = CHUNK_MEMBERS - set(SHARED) - {"citations", "search_results"}
    return _unknown(read_members(body), known)


def _unknown(members: Mapping[str, Raw], known: frozenset[str]) -> dict[str, Raw]:
    return {name: raw for name, raw in members.items() if name not in known and first(raw) != b"n"}


def _choice_extras(body: bytes) -> list[dict[str, Raw]]:
    """Each choice's unknown members, those of its message under ``message``, by index."""
    found: dict[int, dict[str, Raw]] = {}
    for members in read_choices(body).choices:
        extra = _unknown(members, CHOICE_MEMBERS)
        message = members.get("message") or members.get("delta")
        if message is not None and first(message) == b"{":
            within = _unknown(read_members(message), MESSAGE_MEMBERS)
            if within:
                extra["message"] = Raw(encode(within))
        index = read_index(members.get("index"))
        found.setdefault(index, extra)
    return [found[index] for index in sorted(found)]


def read_index(raw: Raw | None) -> int:
    text = b"0" if raw is None else bytes(raw)
    return int(text) if text.lstrip(b"-").isdigit() else 0
