"""Tools: functions, custom tools, and the vendor's own services."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Tool

from .dialect import DIALECT
from .members import Members, missing, mistyped, opening, rows
from .namespaces import Grouped, declaration, flat_name, grouped
from .scope import Scope

NO_ARGUMENTS = Raw(b'{"type":"object","properties":{}}')

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

_DECLARATIONS: dict[str, dict[str, Any]] = {
    "web_search": {"type": "web_search"},
    "code_execution": {"type": "code_interpreter", "container": {"type": "auto"}},
    "image_generation": {"type": "image_generation"},
}
"""How a service that another dialect asked for is declared here."""
HOSTED_TOOLS = " ".join(_DECLARATIONS)


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
        return _read_function(tool)
    if kind == "custom":
        name, description = tool.needed("name"), tool.text("description")
        return Tool(name=name, description=description, custom=True, raw=raw, dialect=DIALECT)
    return Tool(name=kind, hosted=_neutral(kind), raw=raw, dialect=DIALECT)


def _read_function(tool: Members) -> Tool:
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


def _neutral(kind: str) -> str:
    """Versioned and preview names count as the plain one."""
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


def write_tools(tools: Iterable[Tool], scope: Scope) -> list[Any]:
    written: list[Any] = []
    groups: dict[str, dict[str, Any]] = {}
    for tool in tools:
        group = grouped(tool) if scope.own else None
        if group is not None:
            _join(group, groups, written)
        elif (declared := _write_tool(tool, scope)) is not None:
            written.append(declared)
    return written


def _join(tool: Grouped, groups: dict[str, dict[str, Any]], written: list[Any]) -> None:
    """Put a tool back beside the others of its namespace."""
    group = groups.get(tool.namespace)
    if group is None:
        group = {"type": "namespace", "name": tool.namespace, "tools": []}
        if tool.description is not None:
            group["description"] = tool.description
        groups[tool.namespace] = group
        written.append(group)
    group["tools"].append(tool.tool)


def _write_tool(tool: Tool, scope: Scope) -> dict[str, Any] | Raw | None:
    if tool.cache is not None:
        scope.losses.add("cache_control")
    if tool.custom:
        return _write_custom(tool, scope)
    if tool.hosted is not None:
        return _write_hosted(tool, scope)
    declared: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description is not None:
        declared["description"] = tool.description
    if tool.schema is not None:
        declared["parameters"] = tool.schema
    elif not scope.own:
        declared["parameters"] = NO_ARGUMENTS
    if tool.strict is not None:
        declared["strict"] = tool.strict
    elif not scope.own:
        declared["strict"] = False  # Unsaid, this vendor takes it for true.
    scope.put_extra(declared, tool.extra, within="tools")
    return declared


def _write_custom(tool: Tool, scope: Scope) -> dict[str, Any] | Raw:
    if scope.own and tool.raw is not None:
        return tool.raw
    if tool.raw is not None and b'"grammar"' in bytes(tool.raw):
        scope.losses.add("tool:grammar")
    declared: dict[str, Any] = {"type": "custom", "name": tool.name}
    if tool.description is not None:
        declared["description"] = tool.description
    return declared


def _write_hosted(tool: Tool, scope: Scope) -> dict[str, Any] | Raw | None:
    if scope.own and tool.dialect == DIALECT:
        return tool.raw
    offered = scope.word("hosted_tools", HOSTED_TOOLS).split()
    if tool.hosted in offered and tool.hosted in _DECLARATIONS:
        return _DECLARATIONS[tool.hosted]
    scope.losses.add(f"tool:{tool.hosted}")
    return None
