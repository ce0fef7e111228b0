"""Writes a conversation as a request to a vendor of this format.

https://ai.google.dev/api/generate-content
"""

import msgspec

from gateway_core import BadRequest, Conversation, Losses, Target

from .._dialect import GENERATION_CONFIG
from .._media import Json
from .contents import Contents
from .goal import build_goal
from .settings import write_settings
from .tools import write_tools

_TIERS = ("flex", "priority")


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing would be left to send."""
    goal = build_goal(target, conversation, losses)
    contents = Contents(goal).write(conversation)
    for instruction in conversation.instructions:
        if instruction.cache is not None:
            losses.add("cache_control")
        if not goal.own:
            losses.add_extra(instruction.extra)
    texts = [each.text for each in conversation.instructions]
    instructions: list[Json] = [{"text": text} for text in texts if text]
    if instructions and (not contents or not goal.instructed):
        # Instructions become the user's first words, for a model that takes no others.
        losses.add("system_turn")
        parts = contents[0]["parts"] if contents and contents[0]["role"] == "user" else None
        if isinstance(parts, list):
            contents = [{**contents[0], "parts": [*instructions, *parts]}, *contents[1:]]
        else:
            contents = [{"role": "user", "parts": instructions}, *contents]
        instructions = []
    if not contents:
        raise BadRequest("The conversation holds nothing that this model can be sent")
    body: Json = {"contents": contents}
    if instructions:
        body["systemInstruction"] = {"parts": instructions}
    if conversation.tools or conversation.tool_choice is not None or goal.own:
        body |= write_tools(conversation, goal)
    config = write_settings(conversation, goal)
    if config:
        body[GENERATION_CONFIG] = config
    if conversation.user is not None:
        losses.add("user")
    if conversation.cache_key is not None:
        losses.add("cache_key")
    tier = conversation.service_tier
    if tier in _TIERS:
        body["serviceTier"] = tier
    elif tier not in (None, "auto", "default"):
        losses.add("service_tier")
    if goal.own:
        body |= {name: raw for name, raw in conversation.extra.items() if "." not in name}
    else:
        losses.add_extra(conversation.extra)
    return msgspec.json.encode(body)
