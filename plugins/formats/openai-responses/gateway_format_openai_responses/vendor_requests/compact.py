"""Write a request for a vendor that compacts conversations itself."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Conversation, Losses, Target

from .._summary import without_request
from .request import write_request

_members = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode

# https://platform.openai.com/docs/api-reference/responses/compact
_SENT = (
    "model",
    "input",
    "instructions",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "service_tier",
    "image",
)
"""The members that the vendor's endpoint has."""


def write_compact_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """The ordinary request, cut down to the members that the endpoint has."""
    plain = replace(without_request(conversation), stream=False, tool_choice=None)
    members = _members.decode(write_request(plain, target, losses))
    for name in members:
        if name not in (*_SENT, "store", "include"):
            losses.add(name)
    return _encode({name: raw for name, raw in members.items() if name in _SENT})
