"""Putting every tool result right behind the turn that made its call.

Vendors of this dialect refuse a call without a result and a result without
its call. Other dialects, and clients that shorten a history, produce both.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import AnyPart, Text, ToolCall, ToolResult, Turn

NO_RESULT = "No result was given for this call."

_Waiting = dict[str, list[tuple[int, ToolResult]]]


def paired(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns in the order the vendor needs; nothing is dropped."""
    waiting = _results(turns)
    ordered: list[Turn] = []
    for position, turn in enumerate(turns):
        if turn.role == "assistant":
            ordered.append(turn)
            results = _results_of(turn, position, waiting)
            if results:
                ordered.append(Turn("user", results))
            continue
        left = _left(turn, position, waiting)
        if left is not None:
            ordered.append(left)
    return ordered


def _results(turns: Sequence[Turn]) -> _Waiting:
    waiting: _Waiting = {}
    for position, turn in enumerate(turns):
        for part in turn.parts:
            if isinstance(part, ToolResult):
                waiting.setdefault(part.call_id, []).append((position, part))
    return waiting


def _results_of(turn: Turn, position: int, waiting: _Waiting) -> tuple[ToolResult, ...]:
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    return tuple(_result_of(call, position, waiting) for call in calls)


def _result_of(call: ToolCall, position: int, waiting: _Waiting) -> ToolResult:
    queue = waiting.get(call.id, [])
    for index, (stood, result) in enumerate(queue):
        if stood > position:
            del queue[index]
            return result
    return ToolResult(call_id=call.id, content=(Text(text=NO_RESULT),), custom=call.custom)


def _left(turn: Turn, position: int, waiting: _Waiting) -> Turn | None:
    """A turn without the results that were moved; a result of no known call becomes words."""
    if not any(isinstance(part, ToolResult) for part in turn.parts):
        return turn
    parts: list[AnyPart] = []
    for part in turn.parts:
        if not isinstance(part, ToolResult):
            parts.append(part)
            continue
        queue = waiting.get(part.call_id, [])
        if (position, part) in queue:
            queue.remove((position, part))
            parts += (Text(text=f"Result of the tool call {part.call_id}:"), *part.content)
    return replace(turn, parts=tuple(parts)) if parts else None
