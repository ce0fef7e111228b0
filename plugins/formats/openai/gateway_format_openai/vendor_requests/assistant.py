"""One assistant turn, written as a message: content, thinking, calls, speech and signatures.

The shape of the message: https://platform.openai.com/docs/api-reference/chat/create.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from gateway_core import AnyPart, Foreign, Media, Reasoning, Refusal, Text, ToolCall, Turn
from gateway_formats.whole_turns import check_turn

from .._history import write_details, write_signature
from .._members import encode, merge
from .content import write_content
from .draft import Draft

Message = dict[str, Any]
Thought = Reasoning | Foreign

_NO_THINKING = " "
"""What vendors that insist on the thinking behind a tool call accept in its place;
they refuse an empty string."""


def write_assistant_message(turn: Turn, draft: Draft, expects_thinking: bool) -> Message | None:
    """``None`` when nothing of the turn can be carried."""
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    refusals = [part for part in turn.parts if isinstance(part, Refusal)]
    parts: list[Text | Thought] = [
        part for part in turn.parts if isinstance(part, Text | Reasoning | Foreign)
    ]
    if not draft.own:
        parts += [Text(text=part.text) for part in refusals]
    thinking, rest = _split_thinking(parts, draft)
    # Texts that stood on two sides of something else do not run into one another.
    apart = {
        id(right) for left, right in pairwise(turn.parts) if not isinstance(left, Text | Refusal)
    }
    separated: list[AnyPart] = []
    for part in rest:
        follows_text = bool(separated) and isinstance(separated[-1], Text)
        if follows_text and isinstance(part, Text) and part.text and id(part) in apart:
            separated.append(Text(text="\n\n"))
        separated.append(part)
    content = write_content(separated, draft, "")
    message: Message = {"role": "assistant", "content": content or (None if calls else "")}
    if turn.name is not None:
        message["name"] = turn.name
    merge(message, draft.extras(turn.extra))
    if draft.own and refusals:
        message["content"] = content or None
        message["refusal"] = "".join(part.text for part in refusals)
    _write_thinking(message, thinking, draft, expects_thinking and bool(calls))
    for part in turn.parts:
        if isinstance(part, Media):
            # An earlier spoken answer goes back by the id under which its vendor keeps it.
            if part.kind == "audio" and part.file_id is not None and draft.can_open(part.origin):
                message["audio"] = {"id": part.file_id}
            else:
                draft.losses.add("file_id" if part.file_id else part.kind)
        elif isinstance(part, Text) and part.signature is not None:
            if draft.can_open(part.origin):
                message["extra_content"] = write_signature(part.signature)
            else:
                draft.losses.add("reasoning_signature")
    if calls:
        message["tool_calls"] = [_write_call(call, draft) for call in calls]
    if len(message) > 2 or content or not turn.parts:
        return message
    check_turn(turn)
    return None


def _split_thinking(
    parts: Iterable[Text | Thought], draft: Draft
) -> tuple[list[Thought], list[AnyPart]]:
    """Thinking that goes into a member of its own, and what stays in the content."""
    style = draft.switches.reasoning_content
    thinking: list[Thought] = []
    content: list[AnyPart] = []
    for part in parts:
        if isinstance(part, Reasoning):
            has_proof = part.signature is not None or part.sealed is not None
            # Only a vendor of the same origin can verify a signature or open a seal.
            can_keep = style == "reasoning_details" and draft.can_open(part.origin)
            if has_proof and not can_keep:
                draft.losses.add("reasoning_signature")
                part = Reasoning(text=part.text, id=part.id, summary=part.summary, extra=part.extra)
            stays = style == "content" and bool(part.text)
            (content if stays else thinking).append(part)
        elif isinstance(part, Foreign) and part.type.startswith("reasoning."):
            thinking.append(part)
        else:
            content.append(part)
    return thinking, content


def _write_thinking(
    message: Message, thinking: Sequence[Thought], draft: Draft, is_required: bool
) -> None:
    style = draft.switches.reasoning_content
    text = "\n\n".join(part.text for part in thinking if isinstance(part, Reasoning) and part.text)
    if style == "reasoning_details":
        has_details = any(
            isinstance(part, Foreign)
            or part.signature is not None
            or part.sealed is not None
            or (draft.own and "format" in part.extra)
            for part in thinking
        )
        if has_details:
            details = write_details(thinking, draft.own, draft.target.model.id)
            message["reasoning_details"] = details
        elif text:
            message["reasoning"] = text
        return
    for part in thinking:
        if isinstance(part, Foreign):
            draft.losses.add(f"part:{part.type}")
    if style in ("", "content"):
        if text:
            draft.losses.add("reasoning")
    elif text or is_required:
        message[style] = text or _NO_THINKING


def _write_call(call: ToolCall, draft: Draft) -> dict[str, Any]:
    members: dict[str, Any] = {"id": draft.call_id(call.id)}
    if call.custom and draft.switches.custom_tools:
        members["type"] = "custom"
        members["custom"] = {"name": call.name, "input": call.arguments}
    else:
        arguments = call.arguments or "{}"
        if call.custom:
            # The tool was declared as a function with one text, so its call has that shape.
            arguments = encode({"input": call.arguments}).decode()
        members["type"] = "function"
        members["function"] = {"name": call.name, "arguments": arguments}
    if call.signature is not None:
        if draft.can_open(call.origin):
            members["extra_content"] = write_signature(call.signature)
        else:
            draft.losses.add("reasoning_signature")
    merge(members, draft.extras(call.extra, "tool_calls"))
    return members
