"""Tools and the choice among them, written for the vendor."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from gateway_core import Conversation, Tool, ToolChoice

from .._members import DIALECT, anything_of, merge
from .._tools import LEGACY, SEARCH_OPTIONS
from .draft import Draft

_NOTHING_TO_SAY = Raw(b'{"type":"object","properties":{}}')

_TEXT_INPUT = Raw(
    b'{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'
)


def write_tools(conversation: Conversation, draft: Draft) -> dict[str, Any]:
    """The members of a request that speak of tools; none when there are no tools."""
    body: dict[str, Any] = {}
    tools = [
        written
        for tool in _offered(conversation, draft)
        if (written := _tool(tool, draft, body)) is not None
    ]
    if not tools:
        return body
    body["tools"] = tools
    choice = conversation.tool_choice
    if choice is not None:
        body["tool_choice"] = _choice(choice, conversation.tools, draft)
    parallel = conversation.parallel_tools
    if parallel is None and any(tool.dialect == LEGACY for tool in conversation.tools):
        parallel = False  # the caller's older answer has room for one call
    if parallel is not None:
        body["parallel_tool_calls"] = parallel
    return body


def _offered(conversation: Conversation, draft: Draft) -> Iterable[Tool]:
    """All tools, or only the allowed ones for a vendor that cannot be told which."""
    choice = conversation.tool_choice
    if choice is None or len(choice.names) < 2 or draft.switches.allowed_tools:
        return conversation.tools
    return [tool for tool in conversation.tools if tool.name in choice.names]


def _tool(tool: Tool, draft: Draft, body: dict[str, Any]) -> dict[str, Any] | Raw | None:
    if tool.hosted is not None:
        return _hosted(tool, draft, body)
    if tool.custom:
        return _custom(tool, draft)
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = _NOTHING_TO_SAY if tool.schema is None else tool.schema
    if tool.strict is not None:
        function["strict"] = tool.strict
    return _completed({"type": "function", "function": function}, tool, draft)


def _completed(written: dict[str, Any], tool: Tool, draft: Draft) -> dict[str, Any]:
    merge(written, draft.extras(tool.extra, "tools"))
    cache = draft.cache(tool.cache)
    if cache is not None:
        written["cache_control"] = cache
    return written


def _hosted(tool: Tool, draft: Draft, body: dict[str, Any]) -> dict[str, Any] | Raw | None:
    """A server tool: the client's own words for it, or the vendor's declared way."""
    if tool.dialect == DIALECT and tool.raw is not None:
        if tool.name != SEARCH_OPTIONS:
            return tool.raw
        body[SEARCH_OPTIONS] = tool.raw
        return None
    style = draft.switches.web_search if tool.hosted == "web_search" else ""
    if style == SEARCH_OPTIONS:
        body[SEARCH_OPTIONS] = {}
    elif style == "plugins":
        body["plugins"] = [{"id": "web"}]
    elif style:
        return {"type": style}
    else:
        draft.losses.add(f"tool:{tool.hosted}")
    return None


def _custom(tool: Tool, draft: Draft) -> dict[str, Any] | Raw:
    """A tool that takes free text; as a function with one text for vendors without such."""
    if not draft.switches.custom_tools:
        function = {
            "name": tool.name,
            "description": tool.description or "Takes free text.",
            "parameters": _TEXT_INPUT,
        }
        return _completed({"type": "function", "function": function}, tool, draft)
    if tool.dialect == DIALECT and tool.raw is not None:
        return tool.raw
    custom: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        custom["description"] = tool.description
    form = _form(tool)
    if form is not None:
        custom["format"] = form
    return {"type": "custom", "custom": custom}


def _form(tool: Tool) -> dict[str, Any] | None:
    """The grammar of a custom tool that was declared in the flat shape of another dialect."""
    declared = anything_of(tool.raw) if tool.raw is not None else None
    form = declared.get("format") if isinstance(declared, dict) else None
    if not isinstance(form, dict) or form.get("type") != "grammar" or "grammar" in form:
        return form if isinstance(form, dict) else None
    grammar = {name: form[name] for name in ("syntax", "definition") if name in form}
    return {"type": "grammar", "grammar": grammar}


def _choice(choice: ToolChoice, tools: Sequence[Tool], draft: Draft) -> str | dict[str, Any]:
    if not choice.names:
        return "required" if choice.mode == "only" else choice.mode
    if choice.mode not in ("only", "auto"):
        return choice.mode
    named = [_name(name, tools, draft) for name in choice.names]
    if len(named) == 1 and choice.mode == "only":
        return named[0]
    mode = "required" if choice.mode == "only" else "auto"
    if not draft.switches.allowed_tools:
        return mode
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named}}


def _name(name: str, tools: Sequence[Tool], draft: Draft) -> dict[str, Any]:
    for tool in tools:
        if tool.name != name:
            continue
        if tool.hosted is not None:
            return {"type": name}
        if tool.custom and draft.switches.custom_tools:
            return {"type": "custom", "custom": {"name": name}}
    return {"type": "function", "function": {"name": name}}
