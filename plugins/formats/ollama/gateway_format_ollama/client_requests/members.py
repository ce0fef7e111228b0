"""The members of a client's JSON object: known ones are taken out, what remains is ``extra``.

A member that is null counts as absent. Every complaint names the member by its
place in the body, such as ``messages[2].content``.
"""

from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from gateway_core import BadRequest

from .._dialect import BROKEN

_T = TypeVar("_T")

_object = msgspec.json.Decoder(dict[str, Raw])
_rows = msgspec.json.Decoder(list[dict[str, Raw]])
_text = msgspec.json.Decoder(str)
_flag = msgspec.json.Decoder(bool)
_number = msgspec.json.Decoder(float)
_whole = msgspec.json.Decoder(int | float)
_texts = msgspec.json.Decoder(list[str])
_text_or_texts = msgspec.json.Decoder(str | list[str])
_encode = msgspec.json.encode


class Members:
    __slots__ = ("_found", "_where")

    def __init__(self, found: dict[str, Raw], where: str = "") -> None:
        self._found = found
        self._where = where

    @classmethod
    def of(cls, body: bytes) -> "Members":
        """The members of a whole request body. Raises BadRequest."""
        try:
            return cls(_object.decode(body))
        except BROKEN:
            raise BadRequest("The request body must be a JSON object") from None

    def place(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name

    def raw(self, name: str) -> Raw | None:
        found = self._found.pop(name, None)
        return None if found is None or bytes(found) == b"null" else found

    def text(self, name: str) -> str | None:
        return self._take(name, _text, "a string")

    def flag(self, name: str) -> bool | None:
        return self._take(name, _flag, "true or false")

    def number(self, name: str) -> float | None:
        return self._take(name, _number, "a number")

    def whole(self, name: str) -> int | None:
        """An integer; ``5.0`` counts, as it does for a decoder that knows only one number."""
        number = self._take(name, _whole, "an integer")
        if isinstance(number, float) and not number.is_integer():
            raise BadRequest(f"{self.place(name)} must be an integer")
        return None if number is None else int(number)

    def texts(self, name: str) -> list[str]:
        return self._take(name, _texts, "a list of strings") or []

    def text_or_texts(self, name: str) -> tuple[str, ...]:
        found = self._take(name, _text_or_texts, "a string or a list of strings") or ()
        return (found,) if isinstance(found, str) else tuple(found)

    def inner(self, name: str) -> "Members | None":
        found = self._take(name, _object, "an object")
        return None if found is None else Members(found, self.place(name))

    def rows(self, name: str) -> "list[Members]":
        found = self._take(name, _rows, "a list of objects") or []
        place = self.place(name)
        return [Members(row, f"{place}[{index}]") for index, row in enumerate(found)]

    def keep(self, name: str, value: Any) -> None:
        """Put something back among what remains; an empty mapping is left out."""
        if value != {}:
            self._found[name] = Raw(_encode(value))

    def settle(self, name: str, usual: str) -> None:
        """Take a member out when it has its usual value."""
        if bytes(self._found.get(name, b"")) == _encode(usual):
            del self._found[name]

    def rest(self) -> dict[str, Raw]:
        return self._found

    def _take(self, name: str, decoder: msgspec.json.Decoder[_T], what: str) -> _T | None:
        found = self.raw(name)
        if found is None:
            return None
        try:
            return decoder.decode(found)
        except BROKEN:
            raise BadRequest(f"{self.place(name)} must be {what}") from None
