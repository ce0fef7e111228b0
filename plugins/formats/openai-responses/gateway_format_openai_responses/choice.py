"""Which tool is to be called."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from gateway_core import Tool, ToolChoice

from .members import TEXT, Members, decoded, opening, unsupported
from .namespaces import flat_name, grouped
from .scope import Scope

_MODES = {
    "none": ToolChoice("none"),
    "auto": ToolChoice("auto"),
    "required": ToolChoice("required"),
}
_CALLABLE = ("function", "custom")


def read_choice(body: Members) -> ToolChoice | Raw | None:
    """The choice in the hub's words, or as it came when only this dialect can say it."""
    raw = body.raw("tool_choice")
    if raw is None:
        return None
    if opening(raw) == b'"':
        word = decoded(raw, TEXT, "tool_choice", "a string")
        if word not in _MODES:
            raise unsupported("tool_choice", word, tuple(_MODES))
        return _MODES[word]
    choice = Members({"tool_choice": raw}).inner("tool_choice")
    return raw if choice is None else _read_object(choice) or raw


def _read_object(choice: Members) -> ToolChoice | None:
    kind = choice.needed("type")
    if kind in _CALLABLE:
        return ToolChoice("only", (_name(choice),))
    if kind == "allowed_tools" and choice.text("mode") == "required":
        allowed = choice.rows("tools") or []
        if allowed and all(tool.text("type") in _CALLABLE for tool in allowed):
            return ToolChoice("only", tuple(map(_name, allowed)))
    return None


def _name(choice: Members) -> str:
    nested = choice.inner("function")  # as chat-completions clients nest it
    name = (choice if nested is None else nested).needed("name")
    namespace = choice.text("namespace")
    return name if namespace is None else flat_name(namespace, name)


def write_choice(choice: ToolChoice, tools: Iterable[Tool], scope: Scope) -> Any:
    """The member's value; ``tools`` are those that the request declares."""
    if choice.mode != "only":
        return choice.mode
    declared = {tool.name: tool for tool in tools if tool.hosted is None}
    chosen = [_reference(declared[name]) for name in choice.names if name in declared]
    if not chosen:
        scope.losses.add("tool_choice")
        return "auto"
    if len(chosen) == 1:
        return chosen[0]
    return {"type": "allowed_tools", "mode": "required", "tools": chosen}


def _reference(tool: Tool) -> dict[str, Any]:
    group = grouped(tool)
    name = tool.name if group is None else group.name
    return {"type": "custom" if tool.custom else "function", "name": name}
