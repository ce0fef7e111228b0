"""Short conversations to be written as requests."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Conversation, Target, Text, Turn

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
At = Callable[..., Target]

PNG = "iVBORw0KGgoAAAA"
SCHEMA = Raw(b'{"type":"object","properties":{"a":{"type":"string"}}}')


def asking(*parts: AnyPart, **members: Any) -> Conversation:
    """A conversation from another format with one user turn."""
    turns = (Turn("user", parts or (Text(text="hi"),)),)
    return Conversation(**{"turns": turns, "dialect": "openai", **members})


def answered(*parts: AnyPart, **members: Any) -> Conversation:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", parts),
        Turn("user", (Text(text="r"),)),
    )
    return asking(turns=turns, **members)
