"""Pieces of a client's request in the messages format."""

import json
from collections.abc import Callable
from typing import Any

from gateway_core import Conversation

Ask = Callable[..., Conversation]


def user(*blocks: Any) -> list[Any]:
    return [{"role": "user", "content": list(blocks)}]


def answered(*blocks: Any) -> list[Any]:
    """A user's turn and the assistant's."""
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": list(blocks)}]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def loaded(members: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(bytes(value)) for name, value in members.items()}
