"""A client's tools and tool choice to the hub."""

from msgspec import Raw

from gateway_core import BadRequest, Tool, ToolChoice

from .._cache_markers import read_marker
from .._dialect import DIALECT, Extra
from .._members import Members, members

_HOSTED = (
    ("web_search_", "web_search"),
    ("web_fetch_", "web_fetch"),
    ("code_execution_", "code_execution"),
    ("computer_", "computer"),
    ("mcp_toolset", "mcp"),
)


def read_tools(items: list[Raw] | None) -> tuple[Tool, ...]:
    return tuple(_read_tool(item, f"tools.{index}") for index, item in enumerate(items or ()))


def _read_tool(item: Raw, where: str) -> Tool:
    tool = members(item, where)
    kind = tool.text("type")
    if kind is not None and kind != "custom":
        return _declared(tool, kind, item)
    name = tool.needed_text("name")
    schema = tool.needed("input_schema", tool.take("input_schema"))
    if bytes(memoryview(schema)[:1]) != b"{":
        raise BadRequest(f"{tool.path('input_schema')}: must be an object")
    description, strict = tool.text("description"), tool.flag("strict")
    cache, extra = read_marker(tool)
    return Tool(
        name=name, description=description, schema=schema, strict=strict, cache=cache, extra=extra
    )


def _declared(tool: Members, kind: str, item: Raw) -> Tool:
    """A tool that the vendor defines, by its versioned type; kept word for word."""
    hosted = next((word for start, word in _HOSTED if kind.startswith(start)), "other")
    return Tool(name=tool.text("name") or kind, hosted=hosted, raw=item, dialect=DIALECT)


def read_choice(choice: Members | None) -> tuple[ToolChoice | None, bool | None, Extra]:
    """The choice, whether parallel calls are wanted, and what else was said."""
    if choice is None:
        return None, None, {}
    kind = choice.needed_text("type")
    parallel = False if choice.flag("disable_parallel_tool_use") else None
    match kind:
        case "auto":
            said = ToolChoice("auto")
        case "any":
            said = ToolChoice("required")
        case "none":
            said = ToolChoice("none")
        case "tool":
            said = ToolChoice("only", (choice.needed_text("name"),))
        case _:
            raise BadRequest(f"{choice.path('type')}: must be auto, any, tool or none")
    return said, parallel, choice.rest()
