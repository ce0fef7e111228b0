"""A server tool's block while its vendor is still sending it.

The hub carries such a block whole, so it is put together from its start and its deltas and passed
on when it stops.
"""

import msgspec
from msgspec import Raw

from gateway_core import Foreign

from .._dialect import DIALECT, Unreadable, decode_members, encode_raw, is_null

_decode_text = msgspec.json.Decoder(str).decode
_INPUT = "partial_json"


class PendingBlock:
    def __init__(self, start: Raw) -> None:
        self._start = start
        self._members = decode_members(start)
        self._input: list[str] = []
        self._grown = False

    def grow(self, delta: Raw) -> None:
        """Add a delta: text is added to text, anything else replaces. Raises MsgspecError."""
        self._grown = True
        for name, value in decode_members(delta).items():
            if name == _INPUT:
                self._input.append(_decode_text(value))
            elif name != "type" and not is_null(value):
                before = self._members.get(name) or Raw(b'""')
                try:
                    self._members[name] = encode_raw(_decode_text(before) + _decode_text(value))
                except Unreadable:
                    self._members[name] = value

    def whole(self) -> Foreign:
        """Raises MsgspecError when the input that came in pieces is not JSON."""
        text = "".join(self._input)
        if text.strip():
            self._members["input"] = msgspec.json.decode(text.encode(), type=Raw)
        # A block without deltas is passed on byte by byte.
        block = encode_raw(self._members) if self._grown else self._start
        return Foreign(dialect=DIALECT, type=_decode_text(self._members["type"]), raw=block)
