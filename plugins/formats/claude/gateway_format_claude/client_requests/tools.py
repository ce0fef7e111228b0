"""Reads a client's tools and tool choice.

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
"""

from msgspec import Raw

from gateway_core import BadRequest, Tool, ToolChoice

from .._dialect import DIALECT, Extra
from .members import Members, read_members, take_breakpoint

_HOSTED = (
    ("web_search_", "web_search"),
    ("web_fetch_", "web_fetch"),
    ("code_execution_", "code_execution"),
    ("computer_", "computer"),
    ("mcp_toolset", "mcp"),
)
"""How the types of the vendor's own tools begin; a date follows."""


def read_tools(items: list[Raw] | None) -> tuple[Tool, ...]:
    tools: list[Tool] = []
    for index, item in enumerate(items or ()):
        tool = read_members(item, f"tools.{index}")
        kind = tool.text("type")
        if kind is not None and kind != "custom":
            # A tool that the vendor defines is kept word for word.
            hosted = next((word for start, word in _HOSTED if kind.startswith(start)), "other")
            name = tool.text("name") or kind
            tools.append(Tool(name=name, hosted=hosted, raw=item, dialect=DIALECT))
            continue
        name = tool.needed_text("name")
        schema = tool.needed("input_schema", tool.take("input_schema"))
        if bytes(memoryview(schema)[:1]) != b"{":
            raise BadRequest(f"{tool.path('input_schema')}: must be an object")
        description, strict = tool.text("description"), tool.flag("strict")
        cache, extra = take_breakpoint(tool)
        tools.append(
            Tool(
                name=name,
                description=description,
                schema=schema,
                strict=strict,
                cache=cache,
                extra=extra,
            )
        )
    return tuple(tools)


def read_choice(member: Members | None) -> tuple[ToolChoice | None, bool | None, Extra]:
    """The choice, whether calls may be parallel, and the members without a neutral form."""
    if member is None:
        return None, None, {}
    kind = member.needed_text("type")
    parallel = False if member.flag("disable_parallel_tool_use") else None
    match kind:
        case "auto":
            choice = ToolChoice("auto")
        case "any":
            choice = ToolChoice("required")
        case "none":
            choice = ToolChoice("none")
        case "tool":
            choice = ToolChoice("only", (member.needed_text("name"),))
        case _:
            raise BadRequest(f"{member.path('type')}: must be auto, any, tool or none")
    return choice, parallel, member.rest()
