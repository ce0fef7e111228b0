"""Takes the members of a client's JSON objects one by one.

What is left in the end is the object's ``extra``. Every error message names the member it is
about, as ``messages.0.content.1.text``.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import Raw

from gateway_core import BadRequest

from .._dialect import USUAL_LIFETIME, Extra, Unreadable, decode_members, drop_nulls, is_null

T = TypeVar("T")

_text = msgspec.json.Decoder(str)
_flag = msgspec.json.Decoder(bool)
_integer = msgspec.json.Decoder(int)
_number = msgspec.json.Decoder(float)
_list = msgspec.json.Decoder(list[Raw])
_texts = msgspec.json.Decoder(list[str])


class Members:
    """The members of one object that are not taken yet; null counts as absent."""

    __slots__ = ("_left", "where")

    def __init__(self, left: dict[str, Raw], where: str) -> None:
        self._left = left
        self.where = where

    def take(self, name: str) -> Raw | None:
        value = self._left.pop(name, None)
        return None if value is None or is_null(value) else value

    def text(self, name: str) -> str | None:
        return self._take(name, _text, "a string")

    def flag(self, name: str) -> bool | None:
        return self._take(name, _flag, "true or false")

    def integer(self, name: str) -> int | None:
        return self._take(name, _integer, "an integer")

    def number(self, name: str) -> float | None:
        return self._take(name, _number, "a number")

    def items(self, name: str) -> list[Raw] | None:
        return self._take(name, _list, "a list")

    def texts(self, name: str) -> tuple[str, ...]:
        texts: list[str] | None = self._take(name, _texts, "a list of strings")
        return tuple(texts or ())

    def members(self, name: str) -> "Members | None":
        value = self.take(name)
        return None if value is None else read_members(value, self.path(name))

    def needed(self, name: str, value: T | None) -> T:
        """The value of a required member."""
        if value is None:
            raise BadRequest(f"{self.path(name)}: Field required")
        return value

    def needed_text(self, name: str) -> str:
        return self.needed(name, self.text(name))

    def rest(self) -> Extra:
        """What is left, for ``extra``; names that begin with an underscore are private."""
        return {k: v for k, v in drop_nulls(self._left).items() if not k.startswith("_")}

    def path(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def _take(self, name: str, decoder: msgspec.json.Decoder[T], kind: str) -> T | None:
        value = self._left.pop(name, None)
        if value is None or is_null(value):
            return None
        return decode(value, decoder, self.path(name), kind)


def decode(value: Raw, decoder: msgspec.json.Decoder[T], where: str, kind: str) -> T:
    """Raises BadRequest for a value that is not of this kind."""
    try:
        return decoder.decode(value)
    except Unreadable:
        raise BadRequest(f"{where}: must be {kind}") from None


def read_members(value: Raw, where: str) -> Members:
    try:
        return Members(decode_members(value), where)
    except Unreadable:
        raise BadRequest(f"{where}: must be an object") from None


def body_members(members: Mapping[str, Raw]) -> Members:
    """The members of a request's body."""
    return Members(dict(members), "")


def take_breakpoint(holder: Members) -> tuple[str | None, Extra]:
    """A cache breakpoint's lifetime, and the members of its holder that are not taken.

    A breakpoint with more members than its lifetime is also kept whole among the members.
    """
    marker = holder.take("cache_control")
    rest = holder.rest()
    if marker is None:
        return None, rest
    control = read_members(marker, holder.path("cache_control"))
    control.take("type")
    lifetime = control.text("ttl") or USUAL_LIFETIME
    return lifetime, {**rest, "cache_control": marker} if control.rest() else rest


def is_text(value: Raw) -> bool:
    """Whether a value that may be a string or a list is a string."""
    return bytes(memoryview(value)[:1]) == b'"'


def read_text(value: Raw, where: str) -> str:
    return decode(value, _text, where, "a string")


def read_blocks(value: Raw, where: str) -> list[Raw]:
    return decode(value, _list, where, "a string or a list of content blocks")
