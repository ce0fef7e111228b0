"""Instructions and turns, written as the messages of a request."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

from .._history import write_details, write_signature
from .._members import encode, merge
from .content import Content, content, has_media
from .draft import Draft
from .pairing import paired

Message = dict[str, Any]

_SEE_BELOW = "The result is in the next message."

_NO_THINKING = " "
"""What vendors that insist on the thinking behind a tool call accept in its place;
they refuse an empty string."""


def write_messages(
    conversation: Conversation, instructions: Sequence[Text], draft: Draft
) -> list[Message]:
    messages: list[Message] = []
    if instructions:
        words = plain_words(instructions)
        said = content(instructions, draft) if words is None else words
        if said:
            messages.append({"role": draft.switches.system_role, "content": said})
    plain = plain_messages(conversation.turns)
    if plain is not None:
        return messages + plain
    insists = bool(draft.switches.reasoning_content) and _thinks(conversation, draft)
    for turn in paired(conversation.turns):
        if turn.role == "assistant":
            messages += _assistant(turn, draft, insists)
        else:
            messages += _others(turn, draft)
    return messages


def plain_messages(turns: Sequence[Turn]) -> list[Message] | None:
    """What is said where user and assistant say nothing but words; ``None`` for any others."""
    messages: list[Message] = []
    for turn in turns:
        if turn.role == "system" or turn.name is not None or turn.extra:
            return None
        words = plain_words(turn.parts)
        if not words or (turn.role == "assistant" and len(turn.parts) > 1):
            return None
        messages.append({"role": turn.role, "content": words})
    return messages


def plain_words(parts: Sequence[AnyPart]) -> str | None:
    """Texts as one, if they are no more than their words."""
    texts: list[str] = []
    for part in parts:
        if type(part) is not Text or part.citations or part.extra:
            return None
        if part.cache is not None or part.signature is not None:
            return None
        if part.text:
            texts.append(part.text)
    return "\n\n".join(texts)


def _thinks(conversation: Conversation, draft: Draft) -> bool:
    """Whether the model is known to think, by its catalog row or by what is asked of it."""
    asked, model = conversation.thinking, draft.target.model
    if asked is None or asked.enabled is False:
        return model.reasoning is True and asked is None
    is_on = asked.enabled is True or asked.effort is not None or asked.budget is not None
    return model.reasoning is True or (is_on and model.reasoning is None)


def _others(turn: Turn, draft: Draft) -> Iterable[Message]:
    """A system or user turn: its tool results, what they show, and then its own words."""
    results = [part for part in turn.parts if isinstance(part, ToolResult)]
    yield from (_tool(result, draft) for result in results)
    shown = [part for result in results for part in _beside(result, draft)]
    if shown:
        yield {"role": "user", "content": content(shown, draft)}
    parts = [part for part in turn.parts if not isinstance(part, ToolResult)]
    if not parts and results:
        return
    role = draft.switches.system_role if turn.role == "system" else "user"
    said = content([part for part in parts if not isinstance(part, ToolCall | Reasoning)], draft)
    if said or not parts:  # a turn of which nothing could be carried is left out
        yield _message(role, said, turn, draft)


def _message(role: str, said: Content | None, turn: Turn, draft: Draft) -> Message:
    message: Message = {"role": role, "content": said}
    if turn.name is not None:
        message["name"] = turn.name
    merge(message, draft.extras(turn.extra))
    return message


def _tool(result: ToolResult, draft: Draft) -> Message:
    parts: list[AnyPart] = list(result.content)
    if not draft.switches.images_in_tool_results:
        parts = [part for part in parts if _is_words(part)]
    if result.cache is not None:
        parts = _cached(parts, result.cache)
    said = content(parts, draft)
    if not said and has_media(result.content):
        said = _SEE_BELOW
    if result.failed and isinstance(said, str) and not said.lower().startswith("error"):
        said = f"Error: {said}" if said else "Error"
    message: Message = {
        "role": "tool",
        "tool_call_id": draft.call_id(result.call_id),
        "content": said,
    }
    if result.name is not None:
        message["name"] = result.name
    merge(message, draft.extras(result.extra))
    return message


def _is_words(part: AnyPart) -> bool:
    return isinstance(part, Text) or (isinstance(part, Media) and part.text is not None)


def _cached(parts: list[AnyPart], lifetime: str) -> list[AnyPart]:
    """A breakpoint behind a whole result stands on its last piece."""
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, Text):
            parts[index] = Text(text=part.text, cache=lifetime, extra=part.extra)
            break
    return parts


def _beside(result: ToolResult, draft: Draft) -> Sequence[AnyPart]:
    """The pictures of a result, for a message of their own."""
    if draft.switches.images_in_tool_results:
        return ()
    media = [part for part in result.content if not _is_words(part)]
    if not media:
        return ()
    title = f"Result of the tool call {draft.call_id(result.call_id)}:"
    return (Text(text=title), *media)


def _assistant(turn: Turn, draft: Draft, insists: bool) -> Iterable[Message]:
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    spoken = [part for part in turn.parts if isinstance(part, Text | Reasoning | Foreign)]
    refusals = [part for part in turn.parts if isinstance(part, Refusal)]
    if not draft.own:
        spoken += [Text(text=part.text) for part in refusals]
    thinking, words = _split(spoken, draft)
    said = content(_spaced(words, turn.parts), draft, "")
    message = _message("assistant", said or (None if calls else ""), turn, draft)
    if draft.own and refusals:
        message["content"] = said or None
        message["refusal"] = "".join(part.text for part in refusals)
    _write_thinking(message, thinking, draft, insists and bool(calls))
    _write_media(message, turn.parts, draft)
    _write_signature(message, turn.parts, draft)
    if calls:
        message["tool_calls"] = [_call(call, draft) for call in calls]
    if len(message) > 2 or said or not turn.parts:
        yield message


Thought = Reasoning | Foreign


def _split(
    parts: Iterable[Text | Reasoning | Foreign], draft: Draft
) -> tuple[list[Thought], list[AnyPart]]:
    """Thinking that goes into a member of its own, and what stays in the content."""
    within = draft.switches.reasoning_content == "content"
    thinking: list[Thought] = []
    words: list[AnyPart] = []
    for part in parts:
        is_detail = isinstance(part, Foreign) and part.type.startswith("reasoning.")
        if isinstance(part, Reasoning):
            opened = _opened(part, draft)
            if within and opened.text:
                words.append(opened)
            else:
                thinking.append(opened)
        elif isinstance(part, Foreign) and is_detail:
            thinking.append(part)
        else:
            words.append(part)
    return thinking, words


def _opened(part: Reasoning, draft: Draft) -> Reasoning:
    """Thinking as this vendor may see it: without proofs it cannot read."""
    if part.signature is None and part.sealed is None:
        return part
    if draft.can_open(part.origin) and draft.switches.reasoning_content == "reasoning_details":
        return part
    draft.losses.add("reasoning_signature")
    return Reasoning(text=part.text, id=part.id, summary=part.summary, extra=part.extra)


def _write_thinking(
    message: Message, thinking: Sequence[Thought], draft: Draft, insists: bool
) -> None:
    style = draft.switches.reasoning_content
    texts = [part.text for part in thinking if isinstance(part, Reasoning) and part.text]
    if style == "reasoning_details":
        _write_details(message, thinking, texts, draft)
        return
    for part in thinking:
        if isinstance(part, Foreign):
            draft.losses.add(f"part:{part.type}")
    if style in ("", "content"):
        if texts:
            draft.losses.add("reasoning")
    elif texts:
        message[style] = "\n\n".join(texts)
    elif insists:
        message[style] = _NO_THINKING


def _write_details(
    message: Message, thinking: Sequence[Thought], texts: Sequence[str], draft: Draft
) -> None:
    if any(isinstance(part, Foreign) or _is_detailed(part, draft) for part in thinking):
        details = write_details(thinking, draft.own, draft.target.model.id)
        message["reasoning_details"] = details
    elif texts:
        message["reasoning"] = "\n\n".join(texts)


def _is_detailed(part: Reasoning, draft: Draft) -> bool:
    """Whether a piece of thinking has more to it than its words."""
    own = draft.own and "format" in part.extra
    return own or part.signature is not None or part.sealed is not None


def _write_media(message: Message, parts: Iterable[AnyPart], draft: Draft) -> None:
    for part in parts:
        if not isinstance(part, Media):
            continue
        if part.kind == "audio" and part.file_id is not None and draft.can_open(part.origin):
            message["audio"] = {"id": part.file_id}
        else:
            draft.losses.add("file_id" if part.file_id else part.kind)


def _write_signature(message: Message, parts: Iterable[AnyPart], draft: Draft) -> None:
    for part in parts:
        if isinstance(part, Text) and part.signature is not None:
            if draft.can_open(part.origin):
                message["extra_content"] = write_signature(part.signature)
            else:
                draft.losses.add("reasoning_signature")


def _spaced(words: Sequence[AnyPart], parts: Sequence[AnyPart]) -> Sequence[AnyPart]:
    """Texts that stood on two sides of something else do not run into one another."""
    apart = {id(right) for left, right in pairwise(parts) if _breaks(left)}
    spaced: list[AnyPart] = []
    for part in words:
        follows = bool(spaced) and isinstance(spaced[-1], Text)
        if follows and isinstance(part, Text) and part.text and id(part) in apart:
            spaced.append(Text(text="\n\n"))
        spaced.append(part)
    return spaced


def _breaks(part: AnyPart) -> bool:
    return not isinstance(part, Text | Refusal)


def _call(call: ToolCall, draft: Draft) -> dict[str, Any]:
    written: dict[str, Any] = {"id": draft.call_id(call.id)}
    if call.custom and draft.switches.custom_tools:
        written["type"] = "custom"
        written["custom"] = {"name": call.name, "input": call.arguments}
    else:
        arguments = wrapped(call.arguments) if call.custom else call.arguments or "{}"
        written["type"] = "function"
        written["function"] = {"name": call.name, "arguments": arguments}
    if call.signature is not None:
        if draft.can_open(call.origin):
            written["extra_content"] = write_signature(call.signature)
        else:
            draft.losses.add("reasoning_signature")
    merge(written, draft.extras(call.extra, "tool_calls"))
    return written


def wrapped(text: str) -> str:
    """Free text as the arguments of the function that stands in for a custom tool."""
    return encode({"input": text}).decode()
