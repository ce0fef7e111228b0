"""Tools and the choice among them, written for the vendor."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from gateway_core import Conversation, Tool, ToolChoice

from .._members import DIALECT, anything_of, merge
from .._tools import LEGACY, SEARCH_OPTIONS
from .draft import Draft

_NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')

_TEXT_INPUT = Raw(
    b'{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'
)


def write_tools(conversation: Conversation, draft: Draft) -> dict[str, Any]:
    """The members of a request that concern tools; none when there are no tools."""
    body: dict[str, Any] = {}
    choice = conversation.tool_choice
    offered: Sequence[Tool] = conversation.tools
    if choice is not None and len(choice.names) > 1 and not draft.switches.allowed_tools:
        # This vendor has no choice among several tools, so it is offered only the allowed ones.
        offered = [tool for tool in conversation.tools if tool.name in choice.names]
    tools = [each for tool in offered if (each := _write_tool(tool, draft, body)) is not None]
    if not tools:
        return body
    body["tools"] = tools
    if choice is not None:
        body["tool_choice"] = _write_choice(choice, conversation.tools, draft)
    parallel = conversation.parallel_tools
    if parallel is None and any(tool.dialect == LEGACY for tool in conversation.tools):
        parallel = False  # function_call in the client's answer has room for one call
    if parallel is not None:
        body["parallel_tool_calls"] = parallel
    return body


def _write_tool(tool: Tool, draft: Draft, body: dict[str, Any]) -> dict[str, Any] | Raw | None:
    if tool.hosted is not None:
        # A server tool: the client's own JSON for it, or the vendor's declared way.
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
    if tool.custom and draft.switches.custom_tools:
        # Takes free text: https://platform.openai.com/docs/guides/function-calling.
        if tool.dialect == DIALECT and tool.raw is not None:
            return tool.raw
        custom: dict[str, Any] = {"name": tool.name}
        if tool.description is not None:
            custom["description"] = tool.description
        declared = anything_of(tool.raw) if tool.raw is not None else None
        form = declared.get("format") if isinstance(declared, dict) else None
        if isinstance(form, dict):
            # The Responses API has a grammar's members flat, this one in an object of their own.
            if form.get("type") == "grammar" and "grammar" not in form:
                grammar = {name: form[name] for name in ("syntax", "definition") if name in form}
                form = {"type": "grammar", "grammar": grammar}
            custom["format"] = form
        return {"type": "custom", "custom": custom}
    function: dict[str, Any] = {"name": tool.name}
    if tool.custom:
        function["description"] = tool.description or "Takes free text."
        function["parameters"] = _TEXT_INPUT
    else:
        if tool.description is not None:
            function["description"] = tool.description
        function["parameters"] = _NO_PARAMETERS if tool.schema is None else tool.schema
        if tool.strict is not None:
            function["strict"] = tool.strict
    members: dict[str, Any] = {"type": "function", "function": function}
    merge(members, draft.extras(tool.extra, "tools"))
    cache = draft.cache(tool.cache)
    if cache is not None:
        members["cache_control"] = cache
    return members


def _write_choice(choice: ToolChoice, tools: Sequence[Tool], draft: Draft) -> str | dict[str, Any]:
    if not choice.names:
        return "required" if choice.mode == "only" else choice.mode
    if choice.mode not in ("only", "auto"):
        return choice.mode
    named: list[dict[str, Any]] = []
    for name in choice.names:
        # Tools of all other types are written as functions.
        special = (
            tool
            for tool in tools
            if tool.name == name
            and (tool.hosted is not None or (tool.custom and draft.switches.custom_tools))
        )
        tool = next(special, None)
        if tool is None:
            named.append({"type": "function", "function": {"name": name}})
        elif tool.hosted is not None:
            named.append({"type": name})
        else:
            named.append({"type": "custom", "custom": {"name": name}})
    if len(named) == 1 and choice.mode == "only":
        return named[0]
    mode = "required" if choice.mode == "only" else "auto"
    if not draft.switches.allowed_tools:
        return mode
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named}}
