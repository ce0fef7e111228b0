"""Write the reply to a request to compact a conversation."""

import msgspec
from msgspec import Raw

from gateway_core import Conversation, Foreign, Losses, Reply, Usage

from .._compaction import compact_reply
from .._usage import write_usage
from .reply import write_reply

_encode = msgspec.json.Encoder().encode


def write_compacted_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """An ordinary answer whose only item is the compaction."""
    return write_reply(compact_reply(reply), request, losses)


def write_compaction(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """The object that the compact endpoint answers with."""
    items = [
        part.raw for part in compact_reply(reply).choices[0].parts if isinstance(part, Foreign)
    ]
    members = {
        "id": reply.id if reply.id.startswith("resp_") else f"resp_{reply.id}",
        "object": "response.compaction",
        "created_at": reply.created or 0,
        "output": items,
        "usage": Raw(write_usage(reply.usage or Usage())),
    }
    return _encode(members)
