"""Puts calls and results side by side, as many of the one as of the other.

The vendor refuses a turn whose function calls are not all answered in the very next one, and an
answer to no call. Other dialects are less strict, and clients that shorten a history are careless.
https://ai.google.dev/gemini-api/docs/function-calling
"""

from collections import defaultdict, deque
from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import AnyPart, Text, ToolCall, ToolResult, Turn

UNANSWERED = "This call was never answered."

Place = tuple[int, int]
"""The number of a turn, and of a part in it."""


def pair_calls(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns with every result right after its call; nothing is dropped."""
    results = find_results(turns)
    moved = set(results.values())
    paired: list[Turn] = []
    for number, turn in enumerate(turns):
        parts: list[AnyPart] = []
        answers: list[ToolResult] = []
        for place, part in enumerate(turn.parts):
            if isinstance(part, ToolCall):
                at = results.get((number, place))
                result = turns[at[0]].parts[at[1]] if at is not None else None
                if not isinstance(result, ToolResult):
                    text = (Text(text=UNANSWERED),)
                    result = ToolResult(call_id=part.id, name=part.name, content=text, failed=True)
                answers.append(result)
            if not isinstance(part, ToolResult):
                parts.append(part)
            elif (number, place) not in moved:
                # A result of no known call becomes text.
                parts += (Text(text=f"Result of {part.name or part.call_id}:"), *part.content)
        paired.append(replace(turn, parts=tuple(parts)))
        if answers:
            paired.append(Turn("user", tuple(answers)))
    return paired


def find_results(turns: Sequence[Turn]) -> dict[Place, Place]:
    """Where the result of each call stands; results of one id belong to its calls in order."""
    waiting: dict[str, deque[Place]] = defaultdict(deque)
    results: dict[Place, Place] = {}
    for number, turn in enumerate(turns):
        for place, part in enumerate(turn.parts):
            if isinstance(part, ToolCall):
                waiting[part.id].append((number, place))
            elif isinstance(part, ToolResult) and waiting[part.call_id]:
                results[waiting[part.call_id].popleft()] = (number, place)
    return results
