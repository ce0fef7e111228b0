"""Tools and the choice among them, as clients of this dialect write them."""

from msgspec.structs import replace

from gateway_core import Tool, ToolChoice

from .._contents import take_cache
from .._members import (
    DIALECT,
    Members,
    invalid,
    is_text,
    keep_rest,
    object_of,
    rest,
    take,
    take_flag,
    take_items,
    take_object,
    take_text,
    text_of,
)
from .._tools import LEGACY, SEARCH_OPTIONS

_DECLARING = frozenset(("tools", "functions", SEARCH_OPTIONS))

_HOSTED = (
    ("web_search", "web_search"),
    ("web-search", "web_search"),
    ("web_fetch", "web_fetch"),
    ("code", "code_execution"),
    ("file_search", "file_search"),
    ("image_generation", "image_generation"),
    ("computer", "computer"),
    ("mcp", "mcp"),
)

_MODES = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def take_tools(members: Members) -> tuple[Tool, ...]:
    """``tools``, the older ``functions``, and the web search that has a member of its own."""
    if _DECLARING.isdisjoint(members):
        return ()
    tools: list[Tool] = []
    for index, raw in enumerate(take_items(members, "tools") or ()):
        where = f"tools[{index}]"
        item = object_of(raw, where)
        kind = take_text(item, "type", f"{where}.") or "function"
        cache = take_cache(item)
        if kind == "custom":
            custom = take_object(item, "custom", f"{where}.") or {}
            name = take_text(custom, "name", f"{where}.custom.")
            if not name:
                raise invalid(f"{where}.custom.name", "is missing")
            tool = Tool(
                name=name,
                description=take_text(custom, "description", f"{where}.custom."),
                custom=True,
                raw=raw,
                dialect=DIALECT,
                cache=cache,
            )
            tools.append(tool)
        elif kind != "function":
            hosted = next((word for part, word in _HOSTED if part in kind), "other")
            tools.append(Tool(name=kind, hosted=hosted, raw=raw, dialect=DIALECT))
        else:
            function = take_object(item, "function", f"{where}.")
            if function is None:
                raise invalid(f"{where}.function", "is missing")
            tool = _read_function(function, f"{where}.function")
            tools.append(replace(tool, cache=cache, extra={**rest(item), **tool.extra}))
    for index, raw in enumerate(take_items(members, "functions") or ()):
        where = f"functions[{index}]"
        tools.append(replace(_read_function(object_of(raw, where), where), dialect=LEGACY))
    # Search is a member of its own here, not a tool:
    # https://platform.openai.com/docs/guides/tools-web-search?api-mode=chat
    search = take(members, SEARCH_OPTIONS)
    if search is not None:
        object_of(search, SEARCH_OPTIONS)
        tools.append(Tool(name=SEARCH_OPTIONS, hosted="web_search", raw=search, dialect=DIALECT))
    return tuple(tools)


def _read_function(function: Members, where: str) -> Tool:
    name = take_text(function, "name", f"{where}.")
    if not name:
        raise invalid(f"{where}.name", "is missing")
    description = take_text(function, "description", f"{where}.")
    schema = take(function, "parameters")
    strict = take_flag(function, "strict", f"{where}.")
    extra: Members = {}
    keep_rest(extra, "function", function)
    return Tool(name=name, description=description, schema=schema, strict=strict, extra=extra)


def take_choice(members: Members) -> ToolChoice | None:
    """``tool_choice``, or the older ``function_call``. Raises BadRequest."""
    raw = take(members, "tool_choice")
    older = take(members, "function_call")
    name = "tool_choice"
    if raw is None:
        raw, name = older, "function_call"
    if raw is None:
        return None
    if is_text(raw):
        mode = _MODES.get(text_of(raw, name))
        if mode is None:
            raise invalid(name, "must be none, auto, required or an object")
        return _mode(mode)
    members = object_of(raw, name)
    kind = take_text(members, "type", f"{name}.") or "function"
    if kind in _MODES:
        return _mode(_MODES[kind])
    if kind != "allowed_tools":
        return ToolChoice("only", (_read_name(members, kind, name),))
    # Several tools; with the mode auto the names stay, though no call is forced:
    # https://platform.openai.com/docs/api-reference/chat/create#chat-create-tool_choice
    allowed = take_object(members, "allowed_tools", f"{name}.") or members
    mode = take_text(allowed, "mode", f"{name}.allowed_tools.") or "auto"
    names: list[str] = []
    for index, raw in enumerate(take_items(allowed, "tools", f"{name}.") or ()):
        path = f"{name}.tools[{index}]"
        tool = object_of(raw, path)
        names.append(_read_name(tool, take_text(tool, "type", f"{path}.") or "function", path))
    return ToolChoice("only" if mode == "required" else "auto", tuple(names))


def _mode(word: str) -> ToolChoice:
    if word == "none":
        return ToolChoice("none")
    return ToolChoice("required") if word == "required" else ToolChoice("auto")


def _read_name(tool: Members, kind: str, where: str) -> str:
    """A tool's name, in an object named after its type or beside the type."""
    holder = take_object(tool, kind, f"{where}.") or tool
    return take_text(holder, "name", f"{where}.") or kind
