"""``tools`` and ``toolConfig``, as a client sends them."""

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Tool, ToolChoice

from .._members import (
    Members,
    camel,
    members,
    prefixed,
    sequence,
    take_members,
    take_text,
    take_texts,
    take_word,
)
from .._signatures import DIALECT
from .schemas import json_schema

CONFIG = "toolConfig"
CALLING = "functionCallingConfig"
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


def read_tools(tools: Raw | None) -> tuple[Tool, ...]:
    """Raises BadRequest."""
    found: list[Tool] = []
    for number, raw in enumerate(sequence(tools, "tools")):
        where = f"tools[{number}]"
        given = members(raw, where)
        declared = given.pop("functionDeclarations", None)
        where = f"{where}.functionDeclarations"
        found += [
            _function(each, f"{where}[{place}]")
            for place, each in enumerate(sequence(declared, where))
        ]
        found += [_hosted(name, value) for name, value in given.items()]
    return tuple(found)


def _function(raw: Raw, where: str) -> Tool:
    given = members(raw, where)
    where = f"{where}."
    name = take_text(given, "name", where)
    if not name:
        raise BadRequest(f"{where}name must be given")
    plain = given.pop("parametersJsonSchema", None)
    own = given.pop("parameters", None)
    if own is not None and plain is None:
        members(own, f"{where}parameters")
        plain = Raw(json_schema(bytes(own)))
    return Tool(
        name=name,
        description=take_text(given, "description", where) or None,
        schema=plain,
        extra=given,
    )


def _hosted(name: str, value: Raw) -> Tool:
    return Tool(
        name=name,
        hosted=HOSTED.get(camel(name), "other"),
        raw=Raw(msgspec.json.encode({name: value})),
        dialect=DIALECT,
    )


def read_choice(given: Members) -> tuple[ToolChoice | None, Members]:
    """Take ``toolConfig`` out of a body's members; the second is what it leaves over."""
    config = take_members(given, CONFIG, "")
    where = f"{CONFIG}.{CALLING}."
    calling = take_members(config, CALLING, f"{CONFIG}.")
    mode = take_word(calling, "mode", _MODES, where)
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
        calling["mode"] = Raw(msgspec.json.encode(mode))
    if names and mode not in ("ANY", "NONE"):
        calling["allowedFunctionNames"] = Raw(msgspec.json.encode(names))
    return choice, prefixed(CONFIG, {**config, **prefixed(CALLING, calling)})
