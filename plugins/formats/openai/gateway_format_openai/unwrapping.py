"""Calls of custom tools by vendors that know only functions.

Such a vendor was given a function with one text in place of the tool; the
client that declared the tool wants the text itself.
"""

from collections.abc import Sequence

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Tool, ToolCall

from .members import anything_of

_NONE: frozenset[str] = frozenset()


def custom_names(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if tool.custom) if tools else _NONE


def unwrapped(call: ToolCall) -> ToolCall:
    """The call with the only text among its arguments as its input."""
    value = anything_of(Raw(call.arguments.encode()))
    texts = list(value.values()) if isinstance(value, dict) else []
    text = texts[0] if len(texts) == 1 and isinstance(texts[0], str) else call.arguments
    return replace(call, arguments=text, custom=True)
