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
            results: list[ToolResult] = []
            for call in calls:
                queue = waiting.get(call.id, [])
                later = (i for i, (place, _) in enumerate(queue) if place > position)
                first = next(later, None)
                if first is not None:
                    results.append(queue.pop(first)[1])
                else:
                    missing = (Text(text=NO_RESULT),)
                    results.append(ToolResult(call_id=call.id, content=missing, custom=call.custom))
            if results:
                ordered.append(Turn("user", tuple(results)))
        elif not any(isinstance(part, ToolResult) for part in turn.parts):
            ordered.append(turn)
        else:
            parts: list[AnyPart] = []
            for part in turn.parts:
                if not isinstance(part, ToolResult):
                    parts.append(part)
                    continue
                queue = waiting.get(part.call_id, [])
                if (position, part) in queue:
                    # No call took this result, so it can only be sent as text.
                    queue.remove((position, part))
                    parts += (Text(text=f"Result of the tool call {part.call_id}:"), *part.content)
            if parts:
                ordered.append(replace(turn, parts=tuple(parts)))
    return ordered
