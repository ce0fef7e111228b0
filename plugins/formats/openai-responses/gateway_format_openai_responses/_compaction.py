"""The items of a reply to a request to compact a conversation."""

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import AnyPart, Finish, Foreign, Reply, Text, UpstreamError

from ._dialect import DIALECT
from ._summary import seal_summary

_encode = msgspec.json.Encoder().encode

COMPACTION = "compaction"


def build_items(reply_id: str, parts: Iterable[AnyPart], finish: Finish) -> list[Foreign]:
    """The items that stand for the conversation. Raises UpstreamError when nothing could."""
    all_parts = list(parts)
    own = [part for part in all_parts if isinstance(part, Foreign) and part.dialect == DIALECT]
    if any(part.type == COMPACTION for part in own):
        return own
    summary = "".join(part.text for part in all_parts if isinstance(part, Text)).strip()
    if not summary or finish in ("content_filter", "refusal", "error"):
        raise UpstreamError("The model gave no summary of the conversation")
    identity = f"cmp_{hashlib.sha256(reply_id.encode()).hexdigest()[:40]}"
    members = {"id": identity, "type": COMPACTION, "encrypted_content": seal_summary(summary)}
    return [Foreign(dialect=DIALECT, type=COMPACTION, raw=Raw(_encode(members)))]


def compact_reply(reply: Reply) -> Reply:
    """The reply with the compaction in place of the summary. Raises UpstreamError."""
    choice = reply.choices[0]
    items = build_items(reply.id, choice.parts, choice.finish)
    return replace(reply, choices=(replace(choice, parts=tuple(items), finish="stop"),))
