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
    __slots__ = ("_members", "_where")

    def __init__(self, members: dict[str, Raw], where: str = "") -> None:
        self._members = members
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
        value = self._members.pop(name, None)
        return None if value is None or bytes(value) == b"null" else value

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
        value = self._take(name, _text_or_texts, "a string or a list of strings") or ()
        return (value,) if isinstance(value, str) else tuple(value)

    def inner(self, name: str) -> "Members | None":
        value = self._take(name, _object, "an object")
        return None if value is None else Members(value, self.place(name))

    def rows(self, name: str) -> "list[Members]":
        value = self._take(name, _rows, "a list of objects") or []
        place = self.place(name)
        return [Members(row, f"{place}[{index}]") for index, row in enumerate(value)]

    def keep(self, name: str, value: Any) -> None:
        """Put something back among what remains; an empty mapping is left out."""
        if value != {}:
            self._members[name] = Raw(_encode(value))

    def settle(self, name: str, usual: str) -> None:
        """Take a member out when it has its usual value."""
        if bytes(self._members.get(name, b"")) == _encode(usual):
            del self._members[name]

    def rest(self) -> dict[str, Raw]:
        return self._members

    def _take(self, name: str, decoder: msgspec.json.Decoder[_T], what: str) -> _T | None:
        value = self.raw(name)
        if value is None:
            return None
        try:
            return decoder.decode(value)
        except BROKEN:
            raise BadRequest(f"{self.place(name)} must be {what}") from None
