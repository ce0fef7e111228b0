"""The messages of a request in which nothing but words is said, read in one step."""

from typing import Literal

import msgspec
from msgspec import Raw, Struct

from gateway_core import Text, Turn

from .._dialect import Unreadable


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Words(Struct, forbid_unknown_fields=True, gc=False):
    """A text block without a mark."""

    type: Literal["text"]
    text: str


class _Message(Struct, forbid_unknown_fields=True, gc=False):
    role: Literal["user", "assistant"]
    content: str | list[_Words]


_messages = msgspec.json.Decoder(list[_Message]).decode


def read_plain(raw: Raw) -> tuple[Turn, ...] | None:
    """``None`` where a message says more than words, or nothing."""
    try:
        messages = _messages(raw)
    except Unreadable:
        return None
    turns: list[Turn] = []
    for message in messages:
        content = message.content
        texts = [content] if isinstance(content, str) else [block.text for block in content]
        if not any(texts):
            return None
        turns.append(Turn(message.role, tuple([Text(text=text) for text in texts])))
    return tuple(turns) or None
