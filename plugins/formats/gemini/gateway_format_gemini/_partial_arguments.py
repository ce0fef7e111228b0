"""Arguments that the vendor streams piece by piece, each with a JSON path to its place.

The paths are those of RFC 9535, of which only names and indexes occur.
https://ai.google.dev/api/caching
"""

import re
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Raw, Struct

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_LONGEST_LIST = 10_000
_DEEPEST = 100


class PartialArgument(Struct, rename="camel"):
    json_path: str = "$"
    string_value: str | None = None
    number_value: int | float | None = None
    bool_value: bool | None = None

    def value(self) -> Any:
        values = (self.string_value, self.number_value, self.bool_value)
        return next((value for value in values if value is not None), None)


_decode = msgspec.json.Decoder(PartialArgument).decode


class PartialArguments:
    """The arguments of one call so far."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] = {}

    def add(self, raw: Raw) -> None:
        """Raises MsgspecError for an invalid piece."""
        piece = _decode(raw)
        steps: list[str | int] = []
        for match in _STEP.finditer(piece.json_path):
            name = next(filter(None, (match[1], match[3], match[4])), "")
            steps.append(int(match[2]) if match[2] else name)
        # Paths are bounded, so that no vendor can make the gateway recurse or fill the memory.
        if not 0 < len(steps) <= _DEEPEST:
            return
        place: Any = self._whole
        for step, following in pairwise(steps):
            fresh: Any = [] if isinstance(following, int) else {}
            inner = _get(place, step)
            if type(inner) is not type(fresh):
                _put(place, step, fresh)
                inner = fresh
            place = inner
        _put(place, steps[-1], piece.value())

    def merge(self, args: dict[str, Any]) -> None:
        self._whole |= args

    def whole(self) -> str:
        return msgspec.json.encode(self._whole).decode()


def _get(place: Any, step: str | int) -> Any:
    if isinstance(place, list) and isinstance(step, int):
        return place[step] if step < len(place) else None
    return place.get(step) if isinstance(place, dict) else None


def _put(place: Any, step: str | int, value: Any) -> None:
    before = _get(place, step)
    if isinstance(before, str) and isinstance(value, str):
        value = before + value
    if isinstance(place, dict):
        place[step if isinstance(step, str) else str(step)] = value
    elif isinstance(place, list) and isinstance(step, int) and step < _LONGEST_LIST:
        place.extend([None] * (step + 1 - len(place)))
        place[step] = value
