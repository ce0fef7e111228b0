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
    used = (block for message in messages for block in message.content if "toolUse" in block)
    called = list(dict.fromkeys(block["toolUse"]["name"] for block in used))
    named = choice.names if choice.mode == "only" and len(choice.names) > 1 else None
    tools: list[Tool] = []
    for tool in conversation.tools:
        if tool.hosted is not None or tool.custom:
            losses.add(f"tool:{tool.hosted or 'custom'}")
        elif named is None or tool.name in named:
            tools.append(tool)
    if choice.mode == "none" and not called:
        return None
    specs: list[Block] = []
    for tool in tools:
        losses.add_extra(tool.extra, within="tools")
        schema: Any = _NO_ARGUMENTS
        if tool.schema is not None:
            try:
                members = _members.decode(tool.schema)
            except BROKEN:
                pass
            else:
                # Every schema must name its type, object.
                schema = tool.schema if "type" in members else {"type": _OBJECT, **members}
        spec: dict[str, Any] = {"name": tool.name, "inputSchema": {"json": schema}}
        if tool.description:
            spec["description"] = tool.description
        if tool.strict and traits.structured:
            spec["strict"] = True
        elif tool.strict:
            losses.add("strict")
        specs += [{"toolSpec": spec}, *writer.cache_point(tool.cache)]
    if not specs:
        # Converse refuses tool blocks without toolConfig, so tools that were called before
        # and are not offered any more are declared.
        gone = {"description": _GONE, "inputSchema": {"json": _NO_ARGUMENTS}}
        specs = [{"toolSpec": {"name": name, **gone}} for name in called]
    if not specs:
        return None
    if choice.mode == "auto":
        return {"tools": specs}
    if choice.mode == "none" or not tools or not traits.forced_tools:
        losses.add("tool_choice")  # tools of earlier calls must be declared, and may be called
        return {"tools": specs}
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html
    is_single = choice.mode == "only" and len(choice.names) == 1
    chosen = {"tool": {"name": choice.names[0]}} if is_single else {"any": {}}
    return {"tools": specs, "toolChoice": chosen}
