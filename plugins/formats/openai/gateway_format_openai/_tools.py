"""What reading and writing must both know of tools: older ones, and custom ones.

A vendor that knows only functions gets a function with one text in place of a
custom tool; the client that declared the tool gets the text itself back.
"""

from collections.abc import Sequence

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Tool, ToolCall

from ._members import anything_of

LEGACY = "openai-functions"
"""The dialect of a tool from ``functions``; its caller wants ``function_call`` in the answer."""

SEARCH_OPTIONS = "web_search_options"


def is_legacy(tools: tuple[Tool, ...]) -> bool:
    return bool(tools) and any(tool.dialect == LEGACY for tool in tools)


_NONE: frozenset[str] = frozenset()


def custom_names(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if tool.custom) if tools else _NONE


def unwrap_custom_call(call: ToolCall) -> ToolCall:
    """The call with the only text among its arguments as its input."""
    value = anything_of(Raw(call.arguments.encode()))
    texts = list(value.values()) if isinstance(value, dict) else []
    text = texts[0] if len(texts) == 1 and isinstance(texts[0], str) else call.arguments
    return replace(call, arguments=text, custom=True)
