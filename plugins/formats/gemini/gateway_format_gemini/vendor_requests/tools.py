"""Tools and the choice among them, as the vendor takes them."""

import msgspec
from msgspec import Raw

from gateway_core import Conversation, Tool, ToolChoice

from .._media import Json
from .._members import within
from .._signatures import DIALECT
from ..client_requests.tools import CALLING, CONFIG
from .schemas import Rewritten, parameters_schema, response_schema
from .target import Aim

_HOSTED = {
    "web_search": "googleSearch",
    "web_fetch": "urlContext",
    "code_execution": "codeExecution",
}
"""Server tools that need no settings of this vendor's own."""
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY", "only": "ANY"}
_FREE_TEXT = Raw(b'{"type":"OBJECT","properties":{"input":{"type":"STRING"}},"required":["input"]}')

_object = msgspec.json.Decoder(dict[str, Raw])


def write_tools(conversation: Conversation, aim: Aim) -> Json:
    """The ``tools`` and ``toolConfig`` members, as far as there are any."""
    functions: list[Json] = []
    listed: list[Json | Raw] = []
    beside = any(tool.hosted is None for tool in conversation.tools)
    for tool in conversation.tools:
        if tool.hosted is not None:
            _hosted(tool, listed, beside, aim)
            continue
        if not functions:
            listed.append({"functionDeclarations": functions})
        functions.append(_function(tool, aim))
    made: Json = {"tools": listed} if listed else {}
    if conversation.parallel_tools is False and functions:
        aim.losses.add("parallel_tools")
    names = [tool.name for tool in conversation.tools if tool.hosted is None]
    config = _choice(conversation.tool_choice, names, aim)
    if functions and len(listed) > 1 and not aim.own and aim.server_tools:
        config["includeServerSideToolInvocations"] = True
    if aim.own:
        _own_config(config, conversation)
    return {**made, CONFIG: config} if config else made


def write_schema(schema: Raw, aim: Aim) -> Json:
    """The schema of a JSON answer."""
    if aim.json_schema:
        return {"responseJsonSchema": schema}
    return _schema(schema, response_schema(bytes(schema)), "response", aim)


def _function(tool: Tool, aim: Aim) -> Json:
    if tool.cache is not None:
        aim.losses.add("cache_control")
    if tool.strict:
        aim.losses.add("strict")
    made: Json = {"name": tool.name}
    if tool.description:
        made["description"] = tool.description
    made |= _parameters(tool, aim)
    if aim.own:
        return {**made, **tool.extra}
    aim.losses.add_extra(tool.extra)
    return made


def _parameters(tool: Tool, aim: Aim) -> Json:
    if tool.custom:
        aim.losses.add("tool:custom")
        return {"parameters": _FREE_TEXT}
    if tool.schema is None:
        return {}
    if aim.json_schema:
        return {"parametersJsonSchema": tool.schema}
    return _schema(tool.schema, parameters_schema(bytes(tool.schema)), "parameters", aim)


def _schema(schema: Raw, rewritten: Rewritten, name: str, aim: Aim) -> Json:
    """In the API's own schema language, unless the client chose JSON Schema and needs it."""
    whole = f"{name}JsonSchema"
    if rewritten.dropped and aim.own:
        return {whole: schema}
    for keyword in rewritten.dropped:
        aim.losses.add(f"schema:{keyword}")
    own = "responseSchema" if name == "response" else name
    return {own: Raw(rewritten.schema)} if rewritten.schema is not None else {}


def _hosted(tool: Tool, listed: list[Json | Raw], beside: bool, aim: Aim) -> None:
    """List a server tool; ``beside`` tells whether there are functions, too."""
    if tool.dialect == DIALECT and tool.raw is not None:
        listed.append(tool.raw)
        return
    name = _HOSTED.get(tool.hosted or "")
    if name is None or (beside and aim.nature.before(3)):
        # Before the third generation functions and server tools exclude each other.
        aim.losses.add(f"tool:{tool.hosted}")
        return
    _settings_lost(tool, aim)
    if {name: {}} not in listed:
        listed.append({name: {}})


def _settings_lost(tool: Tool, aim: Aim) -> None:
    """A server tool of another vendor keeps its purpose, not its settings."""
    settings = _object.decode(tool.raw) if tool.raw is not None else {}
    for name in settings:
        if name not in ("type", "name"):
            aim.losses.add(f"tool:{tool.hosted}.{name}")


def _choice(choice: ToolChoice | None, functions: list[str], aim: Aim) -> Json:
    if choice is None:
        return {}
    if not functions:
        if choice.mode in ("required", "only"):
            aim.losses.add("tool_choice")
        return {}
    calling: Json = {"mode": _MODES[choice.mode]}
    if choice.mode == "only":
        names = [name for name in choice.names if name in functions]
        if len(names) < len(choice.names) or not names:
            aim.losses.add("tool_choice")
        if not names:
            return {}
        calling["allowedFunctionNames"] = names
    return {CALLING: calling}


def _own_config(config: Json, conversation: Conversation) -> None:
    """Put back what only this dialect says."""
    left = within(CONFIG, conversation.extra)
    inner = within(CALLING, left)
    if inner:
        given = config.get(CALLING)
        config[CALLING] = {**(given if isinstance(given, dict) else {}), **inner}
    config |= {name: value for name, value in left.items() if "." not in name}
