"""Writes tools and the choice among them.

https://ai.google.dev/api/caching#Tool and https://ai.google.dev/api/caching#ToolConfig
"""

import msgspec
from msgspec import Raw

from gateway_core import Conversation, Tool, ToolChoice

from .._dialect import CALLING_CONFIG, DIALECT, TOOL_CONFIG
from .._media import Json
from .._members import take_prefix
from .goal import Goal
from .schemas import RewrittenSchema, parameters_schema, response_schema

_HOSTED = {
    "web_search": "googleSearch",
    "web_fetch": "urlContext",
    "code_execution": "codeExecution",
}
"""Server tools that need no settings of this vendor's own."""
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY", "only": "ANY"}
_FREE_TEXT = Raw(b'{"type":"OBJECT","properties":{"input":{"type":"STRING"}},"required":["input"]}')

_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def write_tools(conversation: Conversation, goal: Goal) -> Json:
    """The ``tools`` and ``toolConfig`` members, as far as there are any."""
    functions: list[Json] = []
    written: list[Json | Raw] = []
    names = [tool.name for tool in conversation.tools if tool.hosted is None]
    for tool in conversation.tools:
        if tool.hosted is None:
            if not functions:
                written.append({"functionDeclarations": functions})
            functions.append(_write_function(tool, goal))
            continue
        name = _HOSTED.get(tool.hosted)
        if tool.dialect == DIALECT and tool.raw is not None:
            written.append(tool.raw)
        elif name is None or (names and goal.traits.before(3)):
            # Before the third generation functions and server tools exclude each other.
            goal.losses.add(f"tool:{tool.hosted}")
        else:
            # A server tool of another vendor keeps its purpose, not its settings.
            for setting in _decode_members(tool.raw) if tool.raw is not None else ():
                if setting not in ("type", "name"):
                    goal.losses.add(f"tool:{tool.hosted}.{setting}")
            if {name: {}} not in written:
                written.append({name: {}})
    members: Json = {"tools": written} if written else {}
    if conversation.parallel_tools is False and functions:
        goal.losses.add("parallel_tools")
    config = _write_choice(conversation.tool_choice, names, goal)
    if functions and len(written) > 1 and not goal.own and goal.server_tools:
        # The vendor shows the calls of its own tools beside functions only when it is asked to.
        config["includeServerSideToolInvocations"] = True
    if goal.own:
        rest = take_prefix(TOOL_CONFIG, conversation.extra)
        inner = take_prefix(CALLING_CONFIG, rest)
        if inner:
            calling = config.get(CALLING_CONFIG)
            config[CALLING_CONFIG] = {**(calling if isinstance(calling, dict) else {}), **inner}
        config |= {name: value for name, value in rest.items() if "." not in name}
    return {**members, TOOL_CONFIG: config} if config else members


def write_schema(schema: Raw, goal: Goal) -> Json:
    """The schema of a JSON answer."""
    if goal.json_schema:
        return {"responseJsonSchema": schema}
    rewritten = response_schema(bytes(schema))
    return _name_schema(schema, rewritten, "responseJsonSchema", "responseSchema", goal)


def _write_function(tool: Tool, goal: Goal) -> Json:
    if tool.cache is not None:
        goal.losses.add("cache_control")
    if tool.strict:
        goal.losses.add("strict")
    function: Json = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.custom:
        goal.losses.add("tool:custom")
        function["parameters"] = _FREE_TEXT
    elif tool.schema is not None and goal.json_schema:
        function["parametersJsonSchema"] = tool.schema
    elif tool.schema is not None:
        rewritten = parameters_schema(bytes(tool.schema))
        function |= _name_schema(tool.schema, rewritten, "parametersJsonSchema", "parameters", goal)
    if goal.own:
        return {**function, **tool.extra}
    goal.losses.add_extra(tool.extra)
    return function


def _name_schema(
    schema: Raw, rewritten: RewrittenSchema, json_name: str, own_name: str, goal: Goal
) -> Json:
    """In the API's own schema language, unless the client chose JSON Schema and needs it."""
    if rewritten.dropped and goal.own:
        return {json_name: schema}
    for keyword in rewritten.dropped:
        goal.losses.add(f"schema:{keyword}")
    return {own_name: Raw(rewritten.schema)} if rewritten.schema is not None else {}


def _write_choice(choice: ToolChoice | None, functions: list[str], goal: Goal) -> Json:
    if choice is None:
        return {}
    if not functions:
        if choice.mode in ("required", "only"):
            goal.losses.add("tool_choice")
        return {}
    calling: Json = {"mode": _MODES[choice.mode]}
    if choice.mode == "only":
        names = [name for name in choice.names if name in functions]
        if len(names) < len(choice.names) or not names:
            goal.losses.add("tool_choice")
        if not names:
            return {}
        calling["allowedFunctionNames"] = names
    return {CALLING_CONFIG: calling}
