"""Write which tool the model must call."""

from collections.abc import Iterable
from typing import Any

from gateway_core import Tool, ToolChoice

from .._namespaces import namespaced_tool
from .._scope import Scope


def write_choice(choice: ToolChoice, tools: Iterable[Tool], scope: Scope) -> Any:
    """The member's value; ``tools`` are those that the request declares."""
    if choice.mode != "only":
        return choice.mode
    declared = {tool.name: tool for tool in tools if tool.hosted is None}
    chosen: list[dict[str, Any]] = []
    for tool in (declared[name] for name in choice.names if name in declared):
        group = namespaced_tool(tool)
        name = tool.name if group is None else group.name
        chosen.append({"type": "custom" if tool.custom else "function", "name": name})
    if not chosen:
        scope.losses.add("tool_choice")
        return "auto"
    if len(chosen) == 1:
        return chosen[0]
    return {"type": "allowed_tools", "mode": "required", "tools": chosen}
