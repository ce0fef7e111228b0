"""The tools of a conversation as Converse's ``toolConfig``."""

from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Conversation, Losses, Tool, ToolChoice

from .._shapes import BROKEN
from .blocks import BlockWriter
from .media import Block
from .message_order import Message
from .models import Traits

_OBJECT = Raw(b'"object"')
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
_GONE = "No longer available."

_members = msgspec.json.Decoder(dict[str, Raw])


def write_tools(
    conversation: Conversation,
    messages: list[Message],
    writer: BlockWriter,
    traits: Traits,
    losses: Losses,
) -> dict[str, Any] | None:
    """``None`` without tools, which the vendor insists on when the talk has calls in it."""
    if conversation.parallel_tools is False:
        losses.add("parallel_tools")
    choice = conversation.tool_choice or ToolChoice()
    called = _called(messages)
    named = choice.names if choice.mode == "only" and len(choice.names) > 1 else None
    tools = [tool for tool in conversation.tools if _is_function(tool, losses)]
    tools = [tool for tool in tools if named is None or tool.name in named]
    if choice.mode == "none" and not called:
        return None
    specs = [block for tool in tools for block in _spec(tool, writer, traits, losses)]
    if not specs:
        # Converse refuses tool blocks without toolConfig, so tools that were called before
        # and are not offered any more are declared.
        gone = {"description": _GONE, "inputSchema": {"json": _NO_ARGUMENTS}}
        specs = [{"toolSpec": {"name": name, **gone}} for name in called]
    if not specs:
        return None
    chosen = _choice(choice, bool(tools) and traits.forced_tools, losses)
    return {"tools": specs} if chosen is None else {"tools": specs, "toolChoice": chosen}


def _called(messages: list[Message]) -> list[str]:
    """The names of the tools that were called so far, each once."""
    blocks = (block for message in messages for block in message.content if "toolUse" in block)
    return list(dict.fromkeys(block["toolUse"]["name"] for block in blocks))


def _is_function(tool: Tool, losses: Losses) -> bool:
    if tool.hosted is None and not tool.custom:
        return True
    losses.add(f"tool:{tool.hosted or 'custom'}")
    return False


def _spec(tool: Tool, writer: BlockWriter, traits: Traits, losses: Losses) -> list[Block]:
    losses.add_extra(tool.extra, within="tools")
    spec: dict[str, Any] = {"name": tool.name, "inputSchema": {"json": _schema(tool.schema)}}
    if tool.description:
        spec["description"] = tool.description
    if tool.strict and traits.structured:
        spec["strict"] = True
    elif tool.strict:
        losses.add("strict")
    return [{"toolSpec": spec}, *writer.cache_point(tool.cache)]


def _schema(schema: Raw | None) -> Any:
    """A schema of an object, as every one must say that it is."""
    if schema is None:
        return _NO_ARGUMENTS
    try:
        members = _members.decode(schema)
    except BROKEN:
        return _NO_ARGUMENTS
    return schema if "type" in members else {"type": _OBJECT, **members}


def _choice(choice: ToolChoice, can_force: bool, losses: Losses) -> dict[str, Any] | None:
    if choice.mode == "auto":
        return None
    if choice.mode == "none" or not can_force:
        losses.add("tool_choice")  # tools of earlier calls must be declared, and may be called
        return None
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html
    if choice.mode == "only" and len(choice.names) == 1:
        return {"tool": {"name": choice.names[0]}}
    return {"any": {}}
