"""Writes the ``tools`` and ``tool_choice`` members.

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
"""

from collections.abc import Mapping, Sequence

from msgspec import Raw

from gateway_core import Losses, Tool, ToolChoice

from .._dialect import DIALECT, Unreadable, decode_members, encode_raw
from .breakpoints import write_breakpoint
from .models import Traits
from .schemas import fit_arguments, fit_schema

_HOSTED: Mapping[str, dict[str, object]] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
}
_ANY_OBJECT = encode_raw({"type": "object"})
_FREE_TEXT = encode_raw(
    {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
)
"""The arguments of a tool that takes free text, which this wire does not know."""


def write_tools(
    tools: Sequence[Tool], choice: ToolChoice | None, traits: Traits, native: bool, losses: Losses
) -> list[dict[str, object] | Raw]:
    if choice is not None and choice.mode == "only" and len(choice.names) > 1:
        # The wire forces one tool or any; leaving the others out comes to the same.
        tools = [tool for tool in tools if tool.name in choice.names]
    written: list[dict[str, object] | Raw] = []
    for tool in tools:
        if tool.hosted is None:
            declared: dict[str, object] = dict(tool.extra) if native else {}
            declared["name"] = tool.name
            if tool.description is not None:
                declared["description"] = tool.description
            schema, is_whole = _ANY_OBJECT, True
            if tool.custom:
                losses.add("tool:custom")
                schema = _FREE_TEXT
            elif tool.schema is not None:
                schema, is_whole = (tool.schema, True) if native else fit_arguments(tool.schema)
            if not is_whole:
                losses.add("tool_schema")
            declared["input_schema"] = schema
            if tool.strict is not None and native:
                declared["strict"] = tool.strict
            elif tool.strict and not traits.structured:
                losses.add("strict")
            elif tool.strict:
                declared["strict"] = True
                if not tool.custom and tool.schema is not None:
                    # A strict tool's schema is compiled as an answer's is, within the same limits.
                    declared["input_schema"], is_whole = fit_schema(schema)
                    if not is_whole:
                        losses.add("strict")
            if tool.cache is not None:
                declared.setdefault("cache_control", write_breakpoint(tool.cache))
            if not native:
                losses.add_extra(tool.extra)
            written.append(declared)
        elif tool.raw is not None and tool.dialect == DIALECT:
            written.append(tool.raw)
        elif traits.hosted and tool.hosted in _HOSTED:
            written.append(dict(_HOSTED[tool.hosted]))
            # A server tool's settings in another dialect do not carry over.
            if tool.raw is None:
                continue
            try:
                settings = decode_members(tool.raw)
            except Unreadable:
                continue
            lost = {
                name: value
                for name, value in settings.items()
                if name not in ("type", "name") and bytes(value) not in (b"{}", b"null")
            }
            losses.add_extra(lost, within=f"tool:{tool.hosted or 'other'}")
        else:
            losses.add(f"tool:{tool.hosted or 'other'}")
    return written


def write_choice(
    choice: ToolChoice | None,
    parallel: bool | None,
    tools: tuple[Tool, ...],
    *,
    can_force: bool,
    losses: Losses,
) -> dict[str, object] | None:
    """The ``tool_choice`` member; ``can_force`` tells whether a call may be forced."""
    forces = choice is not None and choice.mode in ("required", "only")
    if not tools:
        if forces:
            losses.add("tool_choice")
        return None
    if forces and not can_force:
        losses.add("tool_choice")
        choice = ToolChoice("auto")
    if choice is None and parallel is not False:
        return None
    member: dict[str, object] = {"type": "auto"}
    if choice is not None and choice.mode == "none":
        return {"type": "none"}  # takes no disable_parallel_tool_use
    if choice is not None and choice.mode == "required":
        member = {"type": "any"}
    elif choice is not None and choice.mode == "only":
        is_one = len(choice.names) == 1
        member = {"type": "tool", "name": choice.names[0]} if is_one else {"type": "any"}
    if parallel is False:
        member["disable_parallel_tool_use"] = True
    return member
