"""Answering a request to compact a conversation.

A vendor that compacts by itself gives a ``compaction`` item, which goes to the
client as it is. Any other has been asked for a summary (see :mod:`.summary`),
and its answer becomes the sealed content of such an item. Either way the
client gets items that it can send back as the beginning of its next input.
"""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Conversation,
    Finish,
    Foreign,
    Losses,
    PartEnded,
    PartStarted,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    UpstreamError,
    Usage,
    UsageReported,
)
from gateway_formats.fold import Gatherer, as_failure

from .dialect import DIALECT
from .summary import seal_summary
from .usage import write_usage
from .writer import Writer, write_reply

COMPACTION = "compaction"
SILENCE = b": keepalive\n\n"
"""Sent while the model writes its summary, of which the client sees nothing."""

_encode = msgspec.json.Encoder().encode


def items_of(reply_id: str, parts: Iterable[AnyPart], finish: Finish) -> list[Foreign]:
    """The items that stand for the conversation. Raises UpstreamError when nothing could."""
    given = list(parts)
    own = [part for part in given if isinstance(part, Foreign) and part.dialect == DIALECT]
    if any(part.type == COMPACTION for part in own):
        return own
    summary = "".join(part.text for part in given if isinstance(part, Text)).strip()
    if not summary or finish in ("content_filter", "refusal", "error"):
        raise UpstreamError("The model gave no summary of the conversation")
    identity = f"cmp_{hashlib.sha256(reply_id.encode()).hexdigest()[:40]}"
    said = {"id": identity, "type": COMPACTION, "encrypted_content": seal_summary(summary)}
    return [Foreign(dialect=DIALECT, type=COMPACTION, raw=Raw(_encode(said)))]


def compacted(reply: Reply) -> Reply:
    """The reply with the compaction in place of the summary. Raises UpstreamError."""
    choice = reply.choices[0]
    items = items_of(reply.id, choice.parts, choice.finish)
    return replace(reply, choices=(replace(choice, parts=tuple(items), finish="stop"),))


def write_compacted_reply(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    """An ordinary answer whose only item is the compaction."""
    return write_reply(compacted(reply), asked, losses)


def write_compaction(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    """The object that the compact endpoint answers with."""
    items = [part.raw for part in compacted(reply).choices[0].parts if isinstance(part, Foreign)]
    said = {
        "id": reply.id if reply.id.startswith("resp_") else f"resp_{reply.id}",
        "object": "response.compaction",
        "created_at": reply.created or 0,
        "output": items,
        "usage": Raw(write_usage(reply.usage or Usage())),
    }
    return _encode(said)


class CompactionWriter:
    """Writes an ordinary stream whose only item is the compaction."""

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self._writer = Writer(asked, losses)
        self._gatherer = Gatherer()
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._failed:
            return b""
        self._gatherer.feed(events)
        self._failed = any(isinstance(event, ReplyFailed) for event in events)
        shown = [e for e in events if isinstance(e, ReplyStarted | UsageReported | ReplyFailed)]
        return self._writer.feed(shown) or SILENCE

    def close(self) -> bytes:
        if self._failed:
            return b""
        try:
            items = compacted(self._gatherer.reply()).choices[0].parts
        except UpstreamError as error:
            return self._writer.feed((as_failure(error),))
        return self._writer.feed(compaction_events(items)) + self._writer.close()


def compaction_events(items: Iterable[AnyPart]) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    for index, item in enumerate(items):
        events += (PartStarted(index, item), PartEnded(index))
    return [*events, ChoiceEnded("stop")]
