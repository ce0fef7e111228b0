"""Instructions and turns, written as the messages of a request."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw

from gateway_core import (
    AnyPart,
    Conversation,
    Media,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from gateway_formats.instructions import take_from_text
from gateway_formats.whole_turns import check_turn

from .._members import merge
from .assistant import write_assistant_message
from .content import write_content
from .draft import Draft
from .pairing import pair_results

Message = dict[str, Any]

_SEE_BELOW = "The result is in the next message."


def write_messages(
    conversation: Conversation, instructions: Sequence[Text], draft: Draft
) -> list[Message]:
    messages: list[Message] = []
    messages += _write_instructions(instructions, draft)
    # Whether the model thinks is known from its catalog row or from what the request demands.
    thinking, reasons = conversation.thinking, draft.target.model.reasoning
    if thinking is None or thinking.enabled is False:
        thinks = reasons is True and thinking is None
    else:
        wishes = (thinking.effort, thinking.budget)
        is_on = thinking.enabled is True or wishes != (None, None)
        thinks = reasons is True or (is_on and reasons is None)
    expects_thinking = bool(draft.switches.reasoning_content) and thinks
    for turn in pair_results(conversation.turns):
        if turn.role == "assistant":
            message = write_assistant_message(turn, draft, expects_thinking)
            messages += () if message is None else (message,)
        else:
            messages += _write_other_turn(turn, draft)
    return messages


def _write_instructions(instructions: Sequence[Text], draft: Draft) -> Iterable[Message]:
    """One message, and one more for each that came with members of its own dialect."""
    groups: list[tuple[list[Text], Mapping[str, Raw]]] = [([], {})]
    for text in instructions:
        if draft.own and text.extra:
            text, carried = take_from_text(text)
            if carried:
                groups.append(([], carried))
        groups[-1][0].append(text)
    for texts, members in groups:
        if texts and (content := write_content(texts, draft)):
            message: Message = {"role": draft.switches.system_role, "content": content}
            merge(message, members)
            yield message


def _write_other_turn(turn: Turn, draft: Draft) -> Iterable[Message]:
    """A system or user turn: its tool results, their pictures, and then its own content."""
    results = [part for part in turn.parts if isinstance(part, ToolResult)]
    pictures: list[AnyPart] = []
    for result in results:
        shown: list[AnyPart] = list(result.content)
        if not draft.switches.images_in_tool_results:
            shown = [part for part in shown if _is_text(part)]
        if result.cache is not None:
            # This dialect has no breakpoint behind a whole result, only on a content part.
            last = max((i for i, part in enumerate(shown) if isinstance(part, Text)), default=None)
            if last is not None:
                text = shown[last]
                assert isinstance(text, Text)
                shown[last] = Text(text=text.text, cache=result.cache, extra=text.extra)
        output = write_content(shown, draft)
        if not output and any(isinstance(part, Media) for part in result.content):
            output = _SEE_BELOW
        # A tool message has no member for failure, so its text says it.
        if result.failed and isinstance(output, str) and not output.lower().startswith("error"):
            output = f"Error: {output}" if output else "Error"
        tool_message: Message = {
            "role": "tool",
            "tool_call_id": draft.call_id(result.call_id),
            "content": output,
        }
        if result.name is not None:
            tool_message["name"] = result.name
        merge(tool_message, draft.extras(result.extra))
        yield tool_message
        media = [part for part in result.content if not _is_text(part)]
        # Most vendors take only text in tool messages, so pictures follow in a user message.
        if media and not draft.switches.images_in_tool_results:
            title = f"Result of the tool call {draft.call_id(result.call_id)}:"
            pictures += (Text(text=title), *media)
    if pictures:
        yield {"role": "user", "content": write_content(pictures, draft)}
    parts = [part for part in turn.parts if not isinstance(part, ToolResult)]
    if not parts and results:
        return
    writable = [part for part in parts if not isinstance(part, ToolCall | Reasoning)]
    content = write_content(writable, draft)
    if not content and parts:
        check_turn(turn)
        return
    role = draft.switches.system_role if turn.role == "system" else "user"
    message: Message = {"role": role, "content": content}
    if turn.name is not None:
        message["name"] = turn.name
    merge(message, draft.extras(turn.extra))
    yield message


def _is_text(part: AnyPart) -> bool:
    return isinstance(part, Text) or (isinstance(part, Media) and part.text is not None)
