"""The hub's tools to the vendor's ``tools`` member."""

from collections.abc import Mapping, Sequence

from msgspec import Raw

from gateway_core import Losses, Tool, ToolChoice

from .._cache_markers import written_marker
from .._dialect import DIALECT, Unreadable, members_of, raw
from .models import Traits
from .schemas import fitted_arguments, fitted_schema

_HOSTED: Mapping[str, dict[str, object]] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
}
_ANY_OBJECT = raw({"type": "object"})
_FREE_TEXT = raw(
    {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
)
"""The arguments of a tool that takes free text, which this wire does not know."""


def write_tools(
    tools: Sequence[Tool], choice: ToolChoice | None, traits: Traits, native: bool, losses: Losses
) -> list[dict[str, object] | Raw]:
    if choice is not None and choice.mode == "only" and len(choice.names) > 1:
        # The wire forces one tool or any; leaving the others out comes to the same.
        tools = [tool for tool in tools if tool.name in choice.names]
    written = (_write_tool(tool, traits, native, losses) for tool in tools)
    return [tool for tool in written if tool is not None]


def _write_tool(
    tool: Tool, traits: Traits, native: bool, losses: Losses
) -> dict[str, object] | Raw | None:
    if tool.hosted is not None:
        return _write_hosted(tool, traits, losses)
    declared: dict[str, object] = dict(tool.extra) if native else {}
    declared["name"] = tool.name
    if tool.description is not None:
        declared["description"] = tool.description
    declared["input_schema"] = _arguments(tool, native, losses)
    if tool.strict is not None:
        _make_strict(declared, tool, traits, native, losses)
    if tool.cache is not None:
        declared.setdefault("cache_control", written_marker(tool.cache))
    if not native:
        losses.add_extra(tool.extra)
    return declared


def _arguments(tool: Tool, native: bool, losses: Losses) -> Raw:
    if tool.custom:
        losses.add("tool:custom")
        return _FREE_TEXT
    if tool.schema is None:
        return _ANY_OBJECT
    if native:
        return tool.schema
    schema, whole = fitted_arguments(tool.schema)
    if not whole:
        losses.add("tool_schema")
    return schema


def _make_strict(
    declared: dict[str, object], tool: Tool, traits: Traits, native: bool, losses: Losses
) -> None:
    if native:
        declared["strict"] = tool.strict
    elif tool.strict and not traits.structured:
        losses.add("strict")
    elif tool.strict:
        declared["strict"] = True
        if not tool.custom and tool.schema is not None:
            schema, whole = fitted_schema(fitted_arguments(tool.schema)[0])
            declared["input_schema"] = schema
            if not whole:
                losses.add("strict")


def _write_hosted(tool: Tool, traits: Traits, losses: Losses) -> dict[str, object] | Raw | None:
    if tool.raw is not None and tool.dialect == DIALECT:
        return tool.raw
    kind = tool.hosted or "other"
    declared = _HOSTED.get(kind) if traits.hosted else None
    if declared is None:
        losses.add(f"tool:{kind}")
        return None
    _note_settings(tool, kind, losses)
    return dict(declared)


def _note_settings(tool: Tool, kind: str, losses: Losses) -> None:
    """A server tool's settings in another dialect do not carry over."""
    if tool.raw is None:
        return
    try:
        settings = members_of(tool.raw)
    except Unreadable:
        return
    kept = {
        name: value
        for name, value in settings.items()
        if name not in ("type", "name") and bytes(value) not in (b"{}", b"null")
    }
    losses.add_extra(kept, within=f"tool:{kind}")
