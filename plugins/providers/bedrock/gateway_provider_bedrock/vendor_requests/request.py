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

from .._answer import DIALECT
from .blocks import BlockWriter
from .message_order import Message, Role, arrange, limit_cache_points
from .models import Traits, traits_of
from .output import write_form
from .settings import Settings, build_settings
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
    messages = _messages(conversation, target, writer, traits, losses)
    tools = write_tools(conversation, messages, writer, traits, losses)
    form, words = write_form(conversation.output, traits, losses)
    system = [*writer.write(conversation.instructions), *words]
    forced = tools is not None and "toolChoice" in tools
    thinking_lost = _has_lost_thinking(messages, traits)
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
    body |= _config(settings, form)
    body |= _switches(conversation, target, traits, losses)
    if conversation.user is not None:
        losses.add("user")
    if conversation.cache_key is not None:
        losses.add("cache_key")
    if conversation.dialect != DIALECT:
        losses.add_extra(conversation.extra)
    return _encode(_with_own(body, conversation))


def _messages(
    conversation: Conversation,
    target: Target,
    writer: BlockWriter,
    traits: Traits,
    losses: Losses,
) -> list[Message]:
    written = [m for turn in conversation.turns for m in _write_turn(turn, writer, losses)]
    is_empty = not any(message.content for message in written)
    if is_empty and (conversation.turns or not conversation.instructions):
        raise BadRequest(f"Nothing in this request can be sent to {target.model.id}")
    return arrange(written, statuses=traits.statuses)


def _write_turn(turn: Turn, writer: BlockWriter, losses: Losses) -> Iterator[Message]:
    if turn.name is not None:
        losses.add("name")
    if turn.role == "system":
        losses.add("system_turn")  # an instruction between turns is the user's word here
    losses.add_extra(turn.extra, within="messages")
    for role, parts in groupby(turn.parts, lambda part: _role_of(part, turn.role)):
        yield Message(role, writer.write(_sendable(parts, role, losses)))


def _role_of(part: AnyPart, role: str) -> Role:
    """Whose message a part belongs in."""
    if isinstance(part, ToolResult):
        return "user"
    if isinstance(part, ToolCall | Reasoning):
        return "assistant"
    return "assistant" if role == "assistant" else "user"


def _sendable(parts: Iterator[AnyPart], role: Role, losses: Losses) -> Iterator[AnyPart]:
    """An assistant's message has no media."""
    for part in parts:
        if role == "assistant" and isinstance(part, Media):
            losses.add(part.kind)
        else:
            yield part


def _has_lost_thinking(messages: list[Message], traits: Traits) -> bool:
    """Whether a call is being answered whose thinking is gone: with a budget, that is refused."""
    if traits.thinks != "budget" or "toolResult" not in messages[-1].content[0]:
        return False
    return "reasoningContent" not in messages[-2].content[0]


def _config(settings: Settings, form: dict[str, Any] | None) -> dict[str, Any]:
    output: dict[str, Any] = {"textFormat": form} if form is not None else {}
    if settings.effort is not None:
        output["effort"] = settings.effort
    members: dict[str, Any] = {
        "inferenceConfig": settings.inference,
        "additionalModelRequestFields": settings.fields,
        "outputConfig": output,
    }
    return {name: value for name, value in members.items() if value}


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


def _with_own(body: dict[str, Any], conversation: Conversation) -> dict[str, Any]:
    """Members of the own dialect back in their places."""
    if conversation.dialect != DIALECT:
        return body
    for name, raw in conversation.extra.items():
        inside = body.get(name) if name in _MERGED else None
        body[name] = {**inside, **_members(raw)} if isinstance(inside, dict) else raw
    return body
