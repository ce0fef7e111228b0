"""Arguments that the vendor streams piece by piece, each with a path to its place."""

import re
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Raw, Struct

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_LONGEST_LIST = 10_000
_DEEPEST = 100


class _Piece(Struct, rename="camel"):
    json_path: str = "$"
    string_value: str | None = None
    number_value: int | float | None = None
    bool_value: bool | None = None

    def value(self) -> Any:
        for said in (self.string_value, self.number_value, self.bool_value):
            if said is not None:
                return said
        return None


_decode = msgspec.json.Decoder(_Piece).decode


class PartialArgs:
    """The arguments of one call so far."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] = {}

    def add(self, raw: Raw) -> None:
        """Raises MsgspecError when the piece makes no sense."""
        piece = _decode(raw)
        steps = _steps(piece.json_path)
        if not 0 < len(steps) <= _DEEPEST:
            return
        place: Any = self._whole
        for step, following in pairwise(steps):
            place = _entered(place, step, [] if isinstance(following, int) else {})
        _put(place, steps[-1], piece.value())

    def merge(self, args: dict[str, Any]) -> None:
        self._whole |= args

    def whole(self) -> str:
        return msgspec.json.encode(self._whole).decode()


def _steps(path: str) -> list[str | int]:
    return [
        int(found[2]) if found[2] else next(filter(None, (found[1], found[3], found[4])), "")
        for found in _STEP.finditer(path)
    ]


def _entered(place: Any, step: str | int, fresh: Any) -> Any:
    """The container at a step, made when it is not there yet."""
    held = _held(place, step)
    if isinstance(held, dict | list) and type(held) is type(fresh):
        return held
    _put(place, step, fresh)
    return fresh


def _held(place: Any, step: str | int) -> Any:
    if isinstance(place, list) and isinstance(step, int):
        return place[step] if step < len(place) else None
    return place.get(step) if isinstance(place, dict) else None


def _put(place: Any, step: str | int, value: Any) -> None:
    held = _held(place, step)
    if isinstance(held, str) and isinstance(value, str):
        value = held + value
    if isinstance(place, dict):
        place[step if isinstance(step, str) else str(step)] = value
    elif isinstance(place, list) and isinstance(step, int) and step < _LONGEST_LIST:
        place.extend([None] * (step + 1 - len(place)))
        place[step] = value
