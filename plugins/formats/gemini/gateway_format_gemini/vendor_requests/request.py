"""From the hub to a request that the vendor takes."""

import msgspec

from gateway_core import BadRequest, Conversation, Losses, Target

from .._media import Json
from ..client_requests.settings import CONFIG
from .contents import Contents
from .settings import write_settings
from .target import Aim, aim_at
from .tools import write_tools

_TIERS = ("flex", "priority")

_encode = msgspec.json.encode


def write_body(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing would be left to send."""
    aim = aim_at(target, conversation, losses)
    contents = Contents(aim).write(conversation)
    instructions = _instructions(conversation, aim)
    if instructions and (not contents or not aim.instructed):
        contents = _spoken(instructions, contents)
        instructions = []
    if not contents:
        raise BadRequest("The conversation holds nothing that this model can be sent")
    body: Json = {"contents": contents}
    if instructions:
        body["systemInstruction"] = {"parts": instructions}
    if conversation.tools or conversation.tool_choice is not None or aim.own:
        body |= write_tools(conversation, aim)
    config = write_settings(conversation, aim)
    if config:
        body[CONFIG] = config
    body |= _rest(conversation, aim)
    return _encode(body)


def _instructions(conversation: Conversation, aim: Aim) -> list[Json]:
    for text in conversation.instructions:
        if text.cache is not None:
            aim.losses.add("cache_control")
        if not aim.own:
            aim.losses.add_extra(text.extra)
    return [{"text": text.text} for text in conversation.instructions if text.text]


def _spoken(instructions: list[Json], contents: list[Json]) -> list[Json]:
    """Instructions as the user's first words, for a model that takes no others."""
    if contents and contents[0]["role"] == "user":
        first = contents[0]
        parts = first["parts"]
        said = [*instructions, *(parts if isinstance(parts, list) else [])]
        return [{**first, "parts": said}, *contents[1:]]
    return [{"role": "user", "parts": instructions}, *contents]


def _rest(conversation: Conversation, aim: Aim) -> Json:
    losses = aim.losses
    if conversation.user is not None:
        losses.add("user")
    if conversation.cache_key is not None:
        losses.add("cache_key")
    tier = conversation.service_tier
    made: Json = {"serviceTier": tier} if tier in _TIERS else {}
    if tier not in (None, "auto", "default", *_TIERS):
        losses.add("service_tier")
    if not aim.own:
        losses.add_extra(conversation.extra)
        return made
    return {**made, **{name: raw for name, raw in conversation.extra.items() if "." not in name}}
