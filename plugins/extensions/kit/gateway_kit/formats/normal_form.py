"""What a conversation or a reply says, in terms that every dialect can keep."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Choice,
    Conversation,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)

Fact = tuple[Any, ...]

FAMILIES = {"refusal": "content_filter", "pause": "stop"}
"""Endings that some dialects have one word for."""
ROLES = {"system": "user"}
"""Some dialects have no system turns; their words are the user's."""


def without_spaces(text: str) -> str:
    """Without white space, which dialects with one text per turn put between two."""
    return "".join(text.split())


def parse_arguments(text: str) -> Any:
    """Parsed; nothing at all is an empty object."""
    try:
        return msgspec.json.decode(text) if text.strip() else {}
    except msgspec.DecodeError:
        return text


def parse_schema(raw: Raw | None) -> Any:
    return None if raw is None else msgspec.json.decode(raw)


def normalize_conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "instructions": without_spaces("".join(part.text for part in conversation.instructions)),
        "turns": merge_texts(_turn_facts(conversation)),
        "tools": [
            (tool.name, tool.description, parse_schema(tool.schema)) for tool in conversation.tools
        ],
        "tool_choice": (conversation.tool_choice.mode if conversation.tool_choice else "auto"),
        "sampling": msgspec.to_builtins(conversation.sampling),
        "output": conversation.output and parse_schema(conversation.output.schema),
    }


def _turn_facts(conversation: Conversation) -> Iterable[Fact]:
    """Every part with who said it; a result names its call's place, not its id."""
    calls: dict[str, int] = {}
    for turn in conversation.turns:
        for part in turn.parts:
            if isinstance(part, ToolCall):
                calls.setdefault(part.id, len(calls))
            yield from (
                (ROLES.get(turn.role, turn.role), *fact) for fact in part_facts(part, calls)
            )


def part_facts(part: AnyPart, calls: dict[str, int]) -> Iterable[Fact]:
    match part:
        case Text() | Refusal():
            yield "text", without_spaces(part.text)
        case ToolCall():
            yield "call", part.name, parse_arguments(part.arguments)
        case ToolResult():
            yield "result", calls.get(part.call_id), without_spaces(_words(part))
        case Media():
            yield part.kind, part.data or part.url


def _words(result: ToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, Text))


def merge_texts(facts: Iterable[Fact]) -> list[Fact]:
    """Texts that one side says in a row are one text, and an empty one is none."""
    merged_facts: list[Fact] = []
    for fact in facts:
        if fact[-2] == "text" and not fact[-1]:
            continue
        if fact[-2] == "text" and merged_facts and merged_facts[-1][:-1] == fact[:-1]:
            merged_facts[-1] = (*fact[:-1], merged_facts[-1][-1] + fact[-1])
        else:
            merged_facts.append(fact)
    return merged_facts


def normalize_choice(choice: Choice) -> dict[str, Any]:
    parts = choice.parts
    return {
        "text": without_spaces("".join(p.text for p in parts if isinstance(p, Text | Refusal))),
        "reasoning": without_spaces("".join(p.text for p in parts if isinstance(p, Reasoning))),
        "calls": [(p.name, parse_arguments(p.arguments)) for p in parts if isinstance(p, ToolCall)],
        "media": [p.data or p.url for p in parts if isinstance(p, Media)],
        "finish": FAMILIES.get(choice.finish, choice.finish),
    }


def usage_counts(usage: Usage | None) -> tuple[int, int]:
    return (usage.input_tokens, usage.output_tokens) if usage else (0, 0)


def normalize_reply(reply: Reply) -> dict[str, Any]:
    return {
        "choices": [normalize_choice(choice) for choice in reply.choices],
        "usage": usage_counts(reply.usage),
    }


def call_ids(reply: Reply) -> list[str]:
    return [
        part.id for choice in reply.choices for part in choice.parts if isinstance(part, ToolCall)
    ]
