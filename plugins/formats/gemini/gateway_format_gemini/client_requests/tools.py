"""Reads a client's ``tools`` and ``toolConfig``.

https://ai.google.dev/api/caching#Tool and https://ai.google.dev/api/caching#ToolConfig
"""

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Tool, ToolChoice

from .._dialect import CALLING_CONFIG, DIALECT, TOOL_CONFIG
from .._members import (
    Members,
    add_prefix,
    read_list,
    read_members,
    take_enum,
    take_members,
    take_text,
    take_texts,
    to_camel,
)
from .schemas import read_schema

_MODES = {1: "AUTO", 2: "ANY", 3: "NONE"}

HOSTED = {
    "googleSearch": "web_search",
    "googleSearchRetrieval": "web_search",
    "enterpriseWebSearch": "web_search",
    "exaAiSearch": "web_search",
    "parallelAiSearch": "web_search",
    "urlContext": "web_fetch",
    "codeExecution": "code_execution",
    "fileSearch": "file_search",
    "retrieval": "file_search",
    "computerUse": "computer",
    "mcpServers": "mcp",
}
"""The vendor's own tools by their neutral names; any other is ``other``."""

_encode = msgspec.json.encode


def read_tools(raw: Raw | None) -> tuple[Tool, ...]:
    """Raises BadRequest."""
    tools: list[Tool] = []
    for number, item in enumerate(read_list(raw, "tools")):
        members = read_members(item, f"tools[{number}]")
        where = f"tools[{number}].functionDeclarations"
        functions = read_list(members.pop("functionDeclarations", None), where)
        for place, value in enumerate(functions):
            function = read_members(value, f"{where}[{place}]")
            name = take_text(function, "name", f"{where}[{place}].")
            if not name:
                raise BadRequest(f"{where}[{place}].name must be given")
            schema = function.pop("parametersJsonSchema", None)
            own_schema = function.pop("parameters", None)
            if own_schema is not None and schema is None:
                read_members(own_schema, f"{where}[{place}].parameters")
                schema = Raw(read_schema(bytes(own_schema)))
            description = take_text(function, "description", f"{where}[{place}].") or None
            tools.append(Tool(name=name, description=description, schema=schema, extra=function))
        # One entry may hold several of the vendor's tools beside its functions.
        for name, value in members.items():
            hosted = HOSTED.get(to_camel(name), "other")
            own = Raw(_encode({name: value}))
            tools.append(Tool(name=name, hosted=hosted, raw=own, dialect=DIALECT))
    return tuple(tools)


def read_choice(body: Members) -> tuple[ToolChoice | None, Members]:
    """Take ``toolConfig`` out of a body's members; the second is what has no neutral form."""
    config = take_members(body, TOOL_CONFIG, "")
    where = f"{TOOL_CONFIG}.{CALLING_CONFIG}."
    calling = take_members(config, CALLING_CONFIG, f"{TOOL_CONFIG}.")
    mode = take_enum(calling, "mode", _MODES, where)
    names = take_texts(calling, "allowedFunctionNames", where)
    choice = None
    if mode == "ANY":
        choice = ToolChoice("only", names) if names else ToolChoice("required")
    elif mode == "NONE":
        choice = ToolChoice("none")
    elif mode == "AUTO":
        choice = ToolChoice("auto")
    elif mode not in (None, "MODE_UNSPECIFIED"):
        # VALIDATED: the model is free to call or not, but calls are held to their schemas.
        choice = ToolChoice("auto")
        calling["mode"] = Raw(_encode(mode))
    if names and mode not in ("ANY", "NONE"):
        calling["allowedFunctionNames"] = Raw(_encode(names))
    return choice, add_prefix(TOOL_CONFIG, {**config, **add_prefix(CALLING_CONFIG, calling)})
