"""The ids of what clients keep here: ``file_`` and 24 hexadecimal digits.

The digits of a new id begin with its time, so that ids sort as their things were made, and a
page of a list can begin behind something that was deleted in the meantime. They are no secrets.
"""

import re
from collections.abc import Callable
from secrets import randbits

from gateway_core.contracts.errors import BadRequest

RANDOM_BITS = 48
"""The other 48 are milliseconds."""
_is_id = re.compile(r"(?:file|batch|msgbatch)_[0-9a-f]{24}", re.ASCII).fullmatch


class SortableIds:
    """Makes ids, each greater than the one before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` is the wall clock, seconds."""
        self._clock = clock
        self._last = 0

    def new(self, prefix: str) -> str:
        moment = int(self._clock() * 1000)
        # Two of one millisecond, or of a clock that was set back, keep their order.
        self._last = max(self._last + 1, moment << RANDOM_BITS | randbits(RANDOM_BITS))
        return f"{prefix}_{self._last:024x}"


def is_id(text: str) -> bool:
    """Whether a text has the shape of an id. Nothing else becomes part of a path."""
    return _is_id(text) is not None


def check_id(text: str) -> str:
    """The text itself. Raises BadRequest for any other shape than that of an id."""
    if not is_id(text):
        raise BadRequest("invalid id", param="id")
    return text
