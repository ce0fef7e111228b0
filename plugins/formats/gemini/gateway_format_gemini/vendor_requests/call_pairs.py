"""Calls and results side by side, as many of the one as of the other.

The vendor refuses a turn whose function calls are not all answered in the
very next one, and an answer to nothing. Other dialects are less strict, and
clients that shorten a history are careless.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gateway_core import AnyPart, Text, ToolCall, ToolResult, Turn

UNANSWERED = "This call was never answered."

_Place = tuple[int, int]
"""The number of a turn, and of a part in it."""


def paired(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns with every result right after its call; nothing is dropped."""
    answers = _answers(turns)
    moved = set(answers.values())
    kept: list[Turn] = []
    for number, turn in enumerate(turns):
        if any(isinstance(part, ToolResult) for part in turn.parts):
            kept.append(replace(turn, parts=tuple(_left(turn, number, moved))))
        else:
            kept.append(turn)
        results = tuple(
            _answer(part, answers.get((number, place)), turns)
            for place, part in enumerate(turn.parts)
            if isinstance(part, ToolCall)
        )
        kept += [Turn("user", results)] if results else []
    return kept


def _answers(turns: Sequence[Turn]) -> dict[_Place, _Place]:
    """Where the result of each call stands; results of one id belong to its calls in order."""
    waiting: dict[str, deque[_Place]] = defaultdict(deque)
    found: dict[_Place, _Place] = {}
    for number, turn in enumerate(turns):
        for place, part in enumerate(turn.parts):
            if isinstance(part, ToolCall):
                waiting[part.id].append((number, place))
            elif isinstance(part, ToolResult) and waiting[part.call_id]:
                found[waiting[part.call_id].popleft()] = (number, place)
    return found


def _answer(call: ToolCall, place: _Place | None, turns: Sequence[Turn]) -> ToolResult:
    found = turns[place[0]].parts[place[1]] if place is not None else None
    if isinstance(found, ToolResult):
        return found
    words = (Text(text=UNANSWERED),)
    return ToolResult(call_id=call.id, name=call.name, content=words, failed=True)


def _left(turn: Turn, number: int, moved: set[_Place]) -> Iterator[AnyPart]:
    """What stays in a turn; a result of no known call becomes words."""
    for place, part in enumerate(turn.parts):
        if not isinstance(part, ToolResult):
            yield part
        elif (number, place) not in moved:
            yield Text(text=f"Result of {part.name or part.call_id}:")
            yield from part.content
