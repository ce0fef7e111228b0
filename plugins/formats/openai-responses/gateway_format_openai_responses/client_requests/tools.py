"""Read tools: functions, custom tools, and the vendor's own services."""

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Tool

from .._dialect import DIALECT
from .._namespaces import declaration, flat_name
from .members import Members, missing, mistyped, opening, rows

# https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools
_HOSTED = {
    "web_search": "web_search",
    "file_search": "file_search",
    "code_interpreter": "code_execution",
    "image_generation": "image_generation",
    "computer": "computer",
    "computer_use": "computer",
    "computer_use_preview": "computer",
    "mcp": "mcp",
}
"""The vendor's names of its services to the neutral ones."""


def read_tools(values: list[Raw], declared: list[Members]) -> tuple[Tool, ...]:
    tools: list[Tool] = []
    for raw, tool in zip(values, declared, strict=True):
        kind = tool.needed("type")
        if kind != "namespace":
            tools.append(_read_tool(raw, tool, kind))
            continue
        namespace, description = tool.needed("name"), tool.text("description")
        members = tool.array("tools")
        if members is None:
            raise missing(tool.place("tools"))
        for value, member in zip(members, rows(members, tool.place("tools")), strict=True):
            inner = _read_tool(value, member, member.needed("type"))
            tools.append(
                replace(
                    inner,
                    name=flat_name(namespace, inner.name),
                    raw=declaration(namespace, description, inner.name, value),
                    dialect=DIALECT,
                    extra={},
                )
            )
    return tuple(tools)


def _read_tool(raw: Raw, tool: Members, kind: str) -> Tool:
    if kind == "function":
        schema = tool.raw("parameters")
        if schema is not None and opening(schema) != b"{":
            raise mistyped(tool.place("parameters"), "an object")
        return Tool(
            name=tool.needed("name"),
            description=tool.text("description"),
            schema=schema,
            strict=tool.flag("strict"),
            extra=tool.rest(),
        )
    if kind == "custom":
        name, description = tool.needed("name"), tool.text("description")
        return Tool(name=name, description=description, custom=True, raw=raw, dialect=DIALECT)
    # Versioned and preview names count as the plain one, such as web_search_preview_2025_03_11.
    known = next((name for name in _HOSTED if kind == name or kind.startswith(f"{name}_")), None)
    hosted = "other" if known is None else _HOSTED[known]
    return Tool(name=kind, hosted=hosted, raw=raw, dialect=DIALECT)
