"""Read tools: functions, custom tools, and the vendor's own services."""

from collections.abc import Iterable

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


def read_tools(found: list[Raw], declared: list[Members]) -> tuple[Tool, ...]:
    tools: list[Tool] = []
    for raw, tool in zip(found, declared, strict=True):
        kind = tool.needed("type")
        if kind == "namespace":
            tools += _read_namespace(tool)
        else:
            tools.append(_read_tool(raw, tool, kind))
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
    return Tool(name=kind, hosted=_neutral(kind), raw=raw, dialect=DIALECT)


def _neutral(kind: str) -> str:
    """Versioned and preview names count as the plain one."""
    # web_search_preview_2025_03_11 is such a name.
    known = next((name for name in _HOSTED if kind == name or kind.startswith(f"{name}_")), None)
    return "other" if known is None else _HOSTED[known]


def _read_namespace(group: Members) -> Iterable[Tool]:
    namespace, description = group.needed("name"), group.text("description")
    found = group.array("tools")
    if found is None:
        raise missing(group.place("tools"))
    for raw, tool in zip(found, rows(found, group.place("tools")), strict=True):
        one = _read_tool(raw, tool, tool.needed("type"))
        yield replace(
            one,
            name=flat_name(namespace, one.name),
            raw=declaration(namespace, description, one.name, raw),
            dialect=DIALECT,
            extra={},
        )
