"""Putting every tool result right behind the turn that made its call.

Vendors of this dialect refuse a call without a result and a result without
its call. Other dialects, and clients that shorten a history, produce both.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import AnyPart, Text, ToolCall, ToolResult, Turn

NO_RESULT = "No result was given for this call."

_Waiting = dict[str, list[tuple[int, ToolResult]]]
"""Results that are not placed yet, by their call's id, each with the position of its turn."""


def pair_results(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns in the order the vendor needs; nothing is dropped."""
    waiting: _Waiting = {}
    for position, turn in enumerate(turns):
        for part in turn.parts:
            if isinstance(part, ToolResult):
                waiting.setdefault(part.call_id, []).append((position, part))
    ordered: list[Turn] = []
    for position, turn in enumerate(turns):
        if turn.role == "assistant":
            ordered.append(turn)
            calls = [part for part in turn.parts if isinstance(part, ToolCall)]
            if calls:
                results = tuple(_take_result(call, position, waiting) for call in calls)
                ordered.append(Turn("user", results))
        elif (remaining := _without_placed_results(turn, position, waiting)) is not None:
            ordered.append(remaining)
    return ordered


def _take_result(call: ToolCall, position: int, waiting: _Waiting) -> ToolResult:
    """The first result after the call, or a stand-in where there is none."""
    queue = waiting.get(call.id, [])
    for index, (result_position, result) in enumerate(queue):
        if result_position > position:
            del queue[index]
            return result
    return ToolResult(call_id=call.id, content=(Text(text=NO_RESULT),), custom=call.custom)


def _without_placed_results(turn: Turn, position: int, waiting: _Waiting) -> Turn | None:
    """A turn without the results that were moved; a result of no known call becomes text."""
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
