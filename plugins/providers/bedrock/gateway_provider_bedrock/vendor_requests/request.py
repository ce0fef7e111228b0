"""A conversation to a request for Converse."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from gateway_core import (
    AnyPart,
    BadRequest,
    Conversation,
    Losses,
    Media,
    Reasoning,
    Target,
    ToolCall,
    ToolResult,
    Turn,
)
from gateway_formats.whole_turns import check_turn

from .._answer import DIALECT
from .blocks import BlockWriter
from .media import Block
from .message_order import Message, arrange, limit_cache_points
from .models import Traits, traits_of
from .output import write_form
from .settings import build_settings
from .tools import write_tools

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html
_TIERS = ("priority", "default", "flex", "reserved")
_MERGED = ("additionalModelRequestFields", "inferenceConfig", "outputConfig")
"""Members whose neutral part is written from the hub and whose rest stands in ``extra``."""

_encode = msgspec.json.encode
_members = msgspec.json.Decoder(dict[str, Any]).decode


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be expressed."""
    traits = traits_of(target.model.id)
    writer = BlockWriter(target.provider.id, traits, losses)
    written = [m for turn in conversation.turns for m in _write_turn(turn, writer, losses)]
    is_empty = not any(message.content for message in written)
    if is_empty and (conversation.turns or not conversation.instructions):
        raise BadRequest(f"Nothing in this request can be sent to {target.model.id}")
    messages = arrange(written, losses, statuses=traits.statuses)
    tools = write_tools(conversation, messages, writer, traits, losses)
    form, words = write_form(conversation.output, traits, losses)
    system = [*writer.write(conversation.instructions), *words]
    forced = tools is not None and "toolChoice" in tools
    # With a budget, a call that is being answered must have its thinking before it.
    thinking_lost = (
        traits.thinks == "budget"
        and "toolResult" in messages[-1].content[0]
        and "reasoningContent" not in messages[-2].content[0]
    )
    settings = build_settings(
        conversation, target, traits, losses, forced=forced, thinking_lost=thinking_lost
    )
    groups = [(tools or {}).get("tools", []), system, *(m.content for m in messages)]
    if limit_cache_points(groups):
        losses.add("cache_control")
    body: dict[str, Any] = {"messages": [message.members() for message in messages]}
    if system:
        body["system"] = system
    if tools is not None:
        body["toolConfig"] = tools
    output: dict[str, Any] = {"textFormat": form} if form is not None else {}
    if settings.effort is not None:
        output["effort"] = settings.effort
    if settings.inference:
        body["inferenceConfig"] = settings.inference
    if settings.fields:
        body["additionalModelRequestFields"] = settings.fields
    if output:
        body["outputConfig"] = output
    body |= _switches(conversation, target, traits, losses)
    if conversation.user is not None:
        losses.add("user")
    if conversation.cache_key is not None:
        losses.add("cache_key")
    if conversation.dialect != DIALECT:
        losses.add_extra(conversation.extra)
        return _encode(body)
    for name, raw in conversation.extra.items():
        inside = body.get(name) if name in _MERGED else None
        body[name] = {**inside, **_members(raw)} if isinstance(inside, dict) else raw
    return _encode(body)


def _write_turn(turn: Turn, writer: BlockWriter, losses: Losses) -> Iterator[Message]:
    if turn.name is not None:
        losses.add("name")
    if turn.role == "system":
        losses.add("system_turn")  # an instruction between turns is the user's word here
    losses.add_extra(turn.extra, within="messages")

    def is_assistants(part: AnyPart) -> bool:
        if isinstance(part, ToolCall | Reasoning):
            return True
        return turn.role == "assistant" and not isinstance(part, ToolResult)

    is_empty = True
    for by_assistant, parts in groupby(turn.parts, is_assistants):
        content: list[Block] = []
        for part in parts:
            # An assistant's message has no media.
            if by_assistant and isinstance(part, Media):
                losses.add(part.kind)
            else:
                content += writer.write((part,))
        is_empty = is_empty and not content
        yield Message("assistant" if by_assistant else "user", content)
    if is_empty:
        check_turn(turn)


def _switches(
    conversation: Conversation, target: Target, traits: Traits, losses: Losses
) -> dict[str, Any]:
    """The tier, what the provider's options ask for, and where to look for a stop sequence."""
    options = target.provider.options
    members: dict[str, Any] = {}
    tier = conversation.service_tier
    if tier in _TIERS:
        members["serviceTier"] = {"type": tier}
    elif tier not in (None, "auto"):
        losses.add("service_tier")
    if guardrail := options.get("guardrail"):
        version = options.get("guardrail_version", "DRAFT")
        members["guardrailConfig"] = {
            "guardrailIdentifier": guardrail,
            "guardrailVersion": version,
        }
    if latency := options.get("latency"):
        members["performanceConfig"] = {"latency": latency}
    if traits.claude and conversation.sampling.stop:
        place = "/delta/stop_sequence" if conversation.stream else "/stop_sequence"
        members["additionalModelResponseFieldPaths"] = [place]
    return members
