"""A server tool's block while its vendor is still sending it.

The hub carries such a block whole, so it is put together from its start and
its deltas and passed on when it stops.
"""

import msgspec
from msgspec import Raw

from gateway_core import Foreign

from .._dialect import DIALECT, Unreadable, is_null, members_of, raw

_text = msgspec.json.Decoder(str).decode
_INPUT = "partial_json"


class PendingBlock:
    def __init__(self, start: Raw) -> None:
        self._start = start
        self._members = members_of(start)
        self._input: list[str] = []
        self._grown = False

    def grow(self, delta: Raw) -> None:
        """Take a delta: text is added to text, anything else replaces. Raises MsgspecError."""
        self._grown = True
        for name, value in members_of(delta).items():
            if name == _INPUT:
                self._input.append(_text(value))
            elif name != "type" and not is_null(value):
                self._members[name] = _added(self._members.get(name), value)

    def whole(self) -> Foreign:
        """Raises MsgspecError when the input that was sent in pieces is no JSON."""
        said = "".join(self._input)
        if said.strip():
            self._members["input"] = _checked(said)
        block = raw(self._members) if self._grown else self._start
        return Foreign(dialect=DIALECT, type=_text(self._members["type"]), raw=block)


def _checked(said: str) -> Raw:
    return msgspec.json.decode(said.encode(), type=Raw)


def _added(before: Raw | None, more: Raw) -> Raw:
    try:
        return raw(_text(before or Raw(b'""')) + _text(more))
    except Unreadable:
        return more
