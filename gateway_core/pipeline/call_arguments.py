"""Arguments of tool calls that say nothing: vendors write ``null``, ``[]`` or an empty text for
no arguments, where every client expects an object."""

from collections.abc import Iterable

from ..contracts.events import PartEnded, PartGrew, StreamEvent

NO_ARGUMENTS = frozenset(("", "null", "[]"))
_BEGINNINGS = frozenset(word[:end] for word in NO_ARGUMENTS for end in range(len(word) + 1))

Undecided = dict[tuple[int, int], str]
"""What has come of the arguments of calls that may turn out to have none, by choice and part."""


def has_none(arguments: str) -> bool:
    return len(arguments) < 16 and arguments.strip() in NO_ARGUMENTS


def settle(events: Iterable[StreamEvent], undecided: Undecided) -> list[StreamEvent]:
    """The events with an empty object for arguments that say nothing."""
    settled: list[StreamEvent] = []
    for event in events:
        if isinstance(event, PartGrew | PartEnded):
            key = event.choice, event.index
            held = undecided.get(key)
            if held is not None and isinstance(event, PartGrew):
                held += event.text
                if held.strip() in _BEGINNINGS:
                    undecided[key] = held
                    continue
                del undecided[key]
                event = PartGrew(event.index, held, event.choice, event.logprobs)
            elif held is not None:
                del undecided[key]
                text = "{}" if has_none(held) else held
                settled.append(PartGrew(event.index, text, event.choice))
        settled.append(event)
    return settled
