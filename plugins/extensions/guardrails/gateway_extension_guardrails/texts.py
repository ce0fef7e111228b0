"""The texts of a conversation, of a reply and of JSON, to be read or changed one by one."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Citation,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

Change = Callable[[str], str]
"""Gives what is to stand in the place of a text."""
LEAST_NUMBER = 10_000_000
"""Whole numbers from here on are looked at as texts: they may be the number of a card."""
T = TypeVar("T", bound=msgspec.Struct)


def in_conversation(conversation: Conversation, change: Change) -> Conversation:
    """A conversation with its texts changed: what is said, tools' words, and unknown members."""
    return replace(
        conversation,
        instructions=tuple(_said(part, change) for part in conversation.instructions),
        turns=tuple(_turn(turn, change) for turn in conversation.turns),
        tools=tuple(_tool(tool, change) for tool in conversation.tools),
        extra=_extra(conversation.extra, change),
        user=_optional(conversation.user, change),
    )


def in_reply(reply: Reply, change: Change) -> Reply:
    """A reply with its texts changed, and those of members that only its vendor has."""
    choices = tuple(
        replace(
            choice,
            parts=tuple(in_part(part, change) for part in choice.parts),
            extra=_extra(choice.extra, change),
        )
        for choice in reply.choices
    )
    return replace(reply, choices=choices, extra=_extra(reply.extra, change))


def in_part(part: AnyPart, change: Change) -> AnyPart:
    """A part with its texts changed."""
    if isinstance(part, Text):
        part = replace(_said(part, change), citations=_citations(part.citations, change))
    elif isinstance(part, Refusal):
        part = _said(part, change)
    elif isinstance(part, Reasoning):
        text = change(part.text)
        if text != part.text:
            # A vendor refuses thinking that is not what it has signed.
            part = replace(part, text=text, signature=None, sealed=None)
    elif isinstance(part, ToolCall):
        arguments = part.arguments
        part = replace(
            part, arguments=change(arguments) if part.custom else in_json(arguments, change)
        )
    elif isinstance(part, ToolResult):
        content = tuple(in_part(each, change) for each in part.content)
        part = replace(part, content=content)
    elif isinstance(part, Media):
        part = replace(
            part,
            text=_optional(part.text, change),
            name=_optional(part.name, change),
            url=part.url if _is_content(part.url) else _optional(part.url, change),
        )
    elif isinstance(part, Foreign):
        part = replace(part, raw=_raw(part.raw, change))
    return replace(part, extra=_extra(part.extra, change)) if part.extra else part


def in_members(members: Mapping[str, Raw], change: Change) -> dict[str, Raw]:
    """The members of a body with their texts changed; the model's name stays."""
    return {
        name: value if name == "model" else _raw(value, change) for name, value in members.items()
    }


def in_json(text: str, change: Change) -> str:
    """A text of JSON with the texts in it changed; what is no JSON is a text itself."""
    try:
        value = msgspec.json.decode(text)
        changed = in_value(value, change)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return change(text)
    return text if changed == value else msgspec.json.encode(changed).decode()


def in_value(value: Any, change: Change) -> Any:
    """A value of JSON with its texts changed, the names of members too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): in_value(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [in_value(member, change) for member in value]
    if type(value) is int and value >= LEAST_NUMBER:
        digits = str(value)
        return value if (changed := change(digits)) == digits else changed
    return value


def texts_of(changed: Callable[[Change], object]) -> list[str]:
    """The texts that a function of this module, with its value bound, would change, in order."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    changed(keep)
    return found


def from_list(texts: Iterable[str]) -> Change:
    """Puts these in the places of the texts, in the order in which ``texts_of`` gives them."""
    following = iter(texts)
    return lambda _: next(following)


def _said(part: T, change: Change) -> T:
    text = part.text  # type: ignore[attr-defined]  # Text or Refusal
    return replace(part, text=change(text))


def _turn(turn: Turn, change: Change) -> Turn:
    return replace(
        turn,
        parts=tuple(in_part(part, change) for part in turn.parts),
        name=_optional(turn.name, change),
        extra=_extra(turn.extra, change),
    )


def _tool(tool: Tool, change: Change) -> Tool:
    return replace(
        tool,
        description=_optional(tool.description, change),
        schema=None if tool.schema is None else _raw(tool.schema, change),
        raw=None if tool.raw is None else _raw(tool.raw, change),
    )


def _citations(citations: tuple[Citation, ...], change: Change) -> tuple[Citation, ...]:
    return tuple(in_citation(each, change) for each in citations)


def in_citation(citation: Citation, change: Change) -> Citation:
    """A citation with its texts changed, and without the vendor's own object if one was."""
    changed = replace(
        citation,
        url=_optional(citation.url, change),
        title=_optional(citation.title, change),
        quote=_optional(citation.quote, change),
    )
    return citation if changed == citation else replace(changed, raw=None)


def _is_content(url: str | None) -> bool:
    return url is not None and url.startswith("data:")


def _optional(text: str | None, change: Change) -> str | None:
    return None if text is None else change(text)


def _extra(extra: Mapping[str, Raw], change: Change) -> Mapping[str, Raw]:
    return {name: _raw(value, change) for name, value in extra.items()} if extra else extra


def _raw(raw: Raw, change: Change) -> Raw:
    text = bytes(raw).decode(errors="replace")
    changed = in_json(text, change)
    return raw if changed == text else Raw(changed.encode())
