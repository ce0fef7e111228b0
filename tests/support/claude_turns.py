"""Turns of a conversation."""

from collections.abc import Callable
from typing import Any

from gateway_core import AnyPart, Conversation, Target, Text, ToolCall, Turn

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
At = Callable[..., Target]


def turns(*rows: tuple[str, tuple[AnyPart, ...]], dialect: str = "openai") -> Conversation:
    return Conversation(
        turns=tuple(Turn(role, parts) for role, parts in rows),  # type: ignore[arg-type]
        dialect=dialect,
    )


def user(*words: str) -> tuple[str, tuple[AnyPart, ...]]:
    return "user", tuple(Text(text=word) for word in words)


def assistant(*parts: AnyPart) -> tuple[str, tuple[AnyPart, ...]]:
    return "assistant", parts


def call(call_id: str, name: str = "look") -> ToolCall:
    return ToolCall(id=call_id, name=name)
