"""What a mock vendor means to say, before any dialect: thinking, text, tool calls and counts."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Tokens: ``cached`` are part of ``input``, ``reasoning`` part of ``output``."""

    input: int = 12
    output: int = 7
    cached: int = 0
    reasoning: int = 0


class ToolUse(Struct, frozen=True):
    """A tool call."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Content(Struct, frozen=True, kw_only=True):
    """One answer. ``usage`` is ``None`` for a vendor that reports nothing."""

    text: tuple[str, ...] = ()
    """Text, in the pieces in which it is streamed."""
    thinking: tuple[str, ...] = ()
    calls: tuple[ToolUse, ...] = ()
    usage: TokenCounts | None = TokenCounts()  # frozen

    @property
    def words(self) -> str:
        return "".join(self.text)


WORDS = ("Grüße, ", "世界 ", "🌍🏽", "!")
"""Characters of two, three and four bytes, so that a careless cut shows."""
TEXT = Content(text=WORDS)
THINKING = Content(
    thinking=("Let me ", "see."), text=WORDS, usage=TokenCounts(output=9, reasoning=4)
)
CACHED = Content(text=WORDS, usage=TokenCounts(input=40, cached=32))
TOOL = Content(calls=(ToolUse("call_a1", "look_up", {"city": "Zürich"}),))
TOOLS = Content(
    calls=(
        ToolUse("call_a1", "look_up", {"city": "Zürich"}),
        ToolUse("call_b2", "look_up", {"city": "東京", "days": [1, 2]}),
    )
)
CONTENTS = {"text": TEXT, "thinking": THINKING, "cached": CACHED, "tool": TOOL, "tools": TOOLS}
