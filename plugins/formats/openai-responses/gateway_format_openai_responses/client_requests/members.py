"""The members of a client's JSON object: known ones are taken out, what remains is ``extra``.

A member that is null counts as absent. Complaints are worded as the vendor
words them and name the member by its place, such as ``input[2].content[0].text``.
"""

from typing import TypeVar

import msgspec
from msgspec import Raw

from gateway_core import BadRequest

from .._dialect import BROKEN, NULL

_T = TypeVar("_T")

ARRAY = msgspec.json.Decoder(list[Raw])
TEXT = msgspec.json.Decoder(str)
_object = msgspec.json.Decoder(dict[str, Raw])
_flag = msgspec.json.Decoder(bool)
_number = msgspec.json.Decoder(float)
_whole = msgspec.json.Decoder(int)
_texts = msgspec.json.Decoder(list[str])


class Members:
    __slots__ = ("_members", "_where")

    def __init__(self, members: dict[str, Raw], where: str = "") -> None:
        self._members = members
        self._where = where

    def __contains__(self, name: str) -> bool:
        return self._members.get(name, NULL) != NULL

    def place(self, name: str = "") -> str:
        return f"{self._where}.{name}" if self._where and name else self._where or name

    def raw(self, name: str) -> Raw | None:
        value = self._members.pop(name, NULL)
        return None if value == NULL else value

    def text(self, name: str) -> str | None:
        return self._take(name, TEXT, "a string")

    def needed(self, name: str) -> str:
        """A string that must be there."""
        text = self.text(name)
        if text is None:
            raise missing(self.place(name))
        return text

    def flag(self, name: str) -> bool | None:
        return self._take(name, _flag, "a boolean")

    def number(self, name: str) -> float | None:
        return self._take(name, _number, "a number")

    def whole(self, name: str) -> int | None:
        return self._take(name, _whole, "an integer")

    def texts(self, name: str) -> list[str] | None:
        return self._take(name, _texts, "an array of strings")

    def array(self, name: str) -> list[Raw] | None:
        return self._take(name, ARRAY, "an array")

    def inner(self, name: str) -> "Members | None":
        members = self._take(name, _object, "an object")
        return None if members is None else Members(members, self.place(name))

    def rows(self, name: str) -> "list[Members] | None":
        values = self.array(name)
        return None if values is None else rows(values, self.place(name))

    def rest(self) -> dict[str, Raw]:
        return {name: raw for name, raw in self._members.items() if raw != NULL}

    def _take(self, name: str, decoder: msgspec.json.Decoder[_T], what: str) -> _T | None:
        value = self.raw(name)
        return None if value is None else decode_member(value, decoder, self.place(name), what)


def decode_member(raw: Raw, decoder: msgspec.json.Decoder[_T], place: str, what: str) -> _T:
    try:
        return decoder.decode(raw)
    except BROKEN:
        raise mistyped(place, what) from None


def rows(values: list[Raw], place: str) -> list[Members]:
    """The objects of an array. Raises BadRequest when one is something else."""
    objects = []
    for index, raw in enumerate(values):
        where = f"{place}[{index}]"
        objects.append(Members(decode_member(raw, _object, where, "an object"), where))
    return objects


def opening(raw: Raw) -> bytes:
    """The first character of a value, which tells its type."""
    return bytes(memoryview(raw)[:1])


def body_of(body: bytes) -> dict[str, Raw]:
    try:
        return _object.decode(body)
    except BROKEN:
        raise BadRequest("The request body must be a JSON object") from None


def missing(place: str) -> BadRequest:
    return BadRequest(f"Missing required parameter: '{place}'.", param=place)


def mistyped(place: str, what: str) -> BadRequest:
    return BadRequest(f"Invalid type for '{place}': expected {what}", param=place)


def unsupported(place: str, value: str, supported: tuple[str, ...]) -> BadRequest:
    known = ", ".join(f"'{word}'" for word in supported)
    message = f"Invalid value for '{place}': '{value}'. Supported values are: {known}."
    return BadRequest(message, param=place)
