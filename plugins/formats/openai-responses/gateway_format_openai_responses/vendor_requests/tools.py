"""Write tools: functions, custom tools, and the vendor's own services."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Tool

from .._dialect import DIALECT
from .._namespaces import namespaced_tool
from .._scope import Scope

_members = msgspec.json.Decoder(dict[str, Raw]).decode
NO_ARGUMENTS = Raw(b'{"type":"object","properties":{}}')

_DECLARATIONS: dict[str, dict[str, Any]] = {
    "web_search": {"type": "web_search"},
    "code_execution": {"type": "code_interpreter", "container": {"type": "auto"}},
    "image_generation": {"type": "image_generation"},
}
"""How a service that another dialect asked for is declared here."""
HOSTED_TOOLS = " ".join(_DECLARATIONS)


def write_tools(tools: Iterable[Tool], scope: Scope) -> list[Any]:
    written: list[Any] = []
    groups: dict[str, dict[str, Any]] = {}
    for tool in tools:
        member = namespaced_tool(tool) if scope.own else None
        if member is None:
            if (declared := _write_tool(tool, scope)) is not None:
                written.append(declared)
            continue
        group = groups.get(member.namespace)
        if group is None:
            # The tools of one namespace share one declaration.
            group = {"type": "namespace", "name": member.namespace, "tools": []}
            if member.description is not None:
                group["description"] = member.description
            groups[member.namespace] = group
            written.append(group)
        group["tools"].append(member.tool)
    return written


def _write_tool(tool: Tool, scope: Scope) -> dict[str, Any] | Raw | None:
    if tool.cache is not None:
        scope.losses.add("cache_control")
    declared: dict[str, Any] = {"type": "custom" if tool.custom else "function", "name": tool.name}
    if tool.description is not None:
        declared["description"] = tool.description
    if tool.custom:
        if scope.own and tool.raw is not None:
            return tool.raw
        if tool.raw is not None and b'"grammar"' in bytes(tool.raw):
            scope.losses.add("tool:grammar")
        return declared
    if tool.hosted is not None:
        if scope.own and tool.dialect == DIALECT:
            return tool.raw
        offered = scope.word("hosted_tools", HOSTED_TOOLS).split()
        if tool.hosted in offered and tool.hosted in _DECLARATIONS:
            # A server tool of another dialect keeps its purpose, not its settings.
            settings = _members(tool.raw) if tool.raw is not None else {}
            lost = {n: raw for n, raw in settings.items() if n not in ("type", "name")}
            scope.losses.add_extra(lost, within=f"tool:{tool.hosted}")
            return _DECLARATIONS[tool.hosted]
        scope.losses.add(f"tool:{tool.hosted}")
        return None
    if tool.schema is not None:
        declared["parameters"] = tool.schema
    elif not scope.own:
        declared["parameters"] = NO_ARGUMENTS
    if tool.strict is not None:
        declared["strict"] = tool.strict
    elif not scope.own:
        declared["strict"] = False  # The vendor's default is true.
    scope.put_extra(declared, tool.extra, within="tools")
    return declared
