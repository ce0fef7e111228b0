"""Requests that vendors get."""

from collections.abc import Sequence

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Sampling,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

from ._wire_types import (
    NULL,
    AnswerPart,
    CallPart,
    ImagePart,
    Message,
    Request,
    ResultPart,
    TextPart,
    ThoughtPart,
    ToolRow,
    decode_members,
    encode,
)
from .client_requests import DIALECT, SAMPLING_FIELDS


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Name in ``losses`` whatever this format cannot express."""
    note_settings(conversation, losses)
    tools = [row for tool in conversation.tools for row in _write_tool(tool, losses)]
    settings = {name: getattr(conversation.sampling, name) for name in SAMPLING_FIELDS}
    for text in conversation.instructions:
        note_part(text, losses)
    body = encode(
        Request(
            model=target.model.id,
            stream=conversation.stream,
            system="\n\n".join(text.text for text in conversation.instructions) or None,
            messages=[_write_message(turn, losses) for turn in conversation.turns],
            tools=tools,
            choose=write_choice(conversation.tool_choice, losses),
            who=conversation.user,
            **settings,
        )
    )
    is_own = conversation.dialect == DIALECT and bool(conversation.extra)
    return encode({**decode_members(body), **conversation.extra}) if is_own else body


def _write_message(turn: Turn, losses: Losses) -> Message:
    losses.add_extra(turn.extra, within="messages")
    if turn.name is not None:
        losses.add("name")
    return Message(turn.role, [row for part in turn.parts for row in _write_part(part, losses)])


def _write_part(part: AnyPart, losses: Losses) -> Sequence[AnswerPart | ImagePart | ResultPart]:
    """The part on the wire; nothing for a part that this format cannot hold."""
    note_part(part, losses)
    match part:
        case Text() | Refusal():
            return (TextPart(part.text),)
        case Reasoning():
            return (ThoughtPart(part.text),) if part.text else ()
        case Media(kind="image") if part.data is not None or part.url is not None:
            return (ImagePart(part.media_type, part.data, part.url),)
        case ToolCall():
            return (CallPart(part.id, part.name, part.arguments),)
        case ToolResult():
            for piece in part.content:
                note_part(piece, losses)
                if isinstance(piece, Media):
                    losses.add(piece.kind)
            text = "\n\n".join(piece.text for piece in part.content if isinstance(piece, Text))
            return (ResultPart(part.call_id, text, part.failed),)
    return ()


def note_part(part: AnyPart, losses: Losses) -> None:
    """Name what the part holds and this format has no member for."""
    if part.cache is not None:
        losses.add("cache_control")
    if part.signature is not None or (isinstance(part, Reasoning) and part.sealed is not None):
        losses.add("reasoning_signature")
    losses.add_extra(part.extra, within="content")
    match part:
        case Media():
            is_written = part.kind == "image" and (part.data or part.url)
            if not is_written:
                losses.add(part.kind)
            for name in ("name", "detail"):
                if getattr(part, name) is not None:
                    losses.add(name)
        case Refusal():
            losses.add("refusal")
        case Foreign():
            losses.add(f"part:{part.type}")
        case Text() if part.citations:
            losses.add("citations")
        case ToolCall() | ToolResult() if part.custom:
            losses.add("tool:custom")


def write_choice(choice: ToolChoice | None, losses: Losses) -> str | None:
    match choice:
        case None:
            return None
        case ToolChoice("required"):
            return "any"
        case ToolChoice("only", names):
            if len(names) > 1:
                losses.add("tool_choice")
                return "any"
            return f"={names[0]}"
    return choice.mode


def _write_tool(tool: Tool, losses: Losses) -> Sequence[ToolRow]:
    losses.add_extra(tool.extra, within="tools")
    if tool.custom or tool.hosted is not None:
        losses.add(f"tool:{tool.hosted or 'custom'}")
        return ()
    for name in ("strict", "cache"):
        if getattr(tool, name):
            losses.add(name)
    return (ToolRow(tool.name, tool.description, tool.schema or NULL),)


def note_settings(conversation: Conversation, losses: Losses) -> None:
    """Name what the conversation asks for and this format has no members for."""
    for name in Sampling.__struct_fields__:
        if name not in SAMPLING_FIELDS and getattr(conversation.sampling, name) is not None:
            losses.add(name)
    unsupported = ("parallel_tools", "thinking", "output", "cache_key")
    for name in (*unsupported, "service_tier"):
        if getattr(conversation, name) is not None:
            losses.add(name)
    if conversation.dialect != DIALECT:
        losses.add_extra(conversation.extra)
