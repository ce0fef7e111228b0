"""Taking the members out of a JSON object one by one, with errors that name them.

Whoever reads an object takes what it knows; what is left when it is done has
no canonical name and becomes ``extra``. A member that is null counts as absent.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Call

DIALECT = "openai"

# msgspec raises RecursionError for JSON that is nested too deeply.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the JSON decoder raises for bytes that are not the JSON we look for."""

Members = dict[str, Raw]

_object = msgspec.json.Decoder(Members)

_items = msgspec.json.Decoder(list[Raw])

_text = msgspec.json.Decoder(str)

_text_or_null = msgspec.json.Decoder(str | None)

_whole_or_null = msgspec.json.Decoder(int | None)

_number_or_null = msgspec.json.Decoder(float | None)

_flag = msgspec.json.Decoder(bool)

_anything = msgspec.json.Decoder()

encode = msgspec.json.Encoder().encode

_NULL, _QUOTE, _BRACKET, _BRACE = b'n"[{'


def first(raw: Raw) -> bytes:
    """The first byte of a value, which tells its JSON type."""
    return bytes(memoryview(raw)[:1])


def is_null(raw: Raw) -> bool:
    return memoryview(raw)[0] == _NULL


def is_text(raw: Raw) -> bool:
    return memoryview(raw)[0] == _QUOTE


def is_list(raw: Raw) -> bool:
    return memoryview(raw)[0] == _BRACKET


def is_empty_list(raw: Raw | None) -> bool:
    if raw is None or bytes(memoryview(raw)[:2]) == b"[{":  # as nearly every list begins
        return False
    return b"".join(bytes(memoryview(raw)[:64]).split()) == b"[]"


def is_object(raw: Raw) -> bool:
    return memoryview(raw)[0] == _BRACE


def body_of(body: bytes, wrong: str = "The request body must be a JSON object") -> Members:
    """The members of a request body, without those that begin with an underscore."""
    try:
        members = _object.decode(body)
    except UNREADABLE:
        raise BadRequest(wrong) from None
    return _public(members)


def members_of(call: Call) -> Members:
    """The same of a call, whose members may have been separated already."""
    return _public(call.members) if call.members else body_of(call.body)


def _public(members: Mapping[str, Raw]) -> Members:
    return {name: raw for name, raw in members.items() if name[:1] != "_"}


def invalid(place: str, what: str) -> BadRequest:
    """What is wrong with one member, by its name."""
    return BadRequest(f"{place} {what}", param=place)


def object_of(raw: Raw, where: str) -> Members:
    try:
        return _object.decode(raw)
    except UNREADABLE:
        raise invalid(where, "must be an object") from None


def items_of(raw: Raw, where: str) -> list[Raw]:
    try:
        return _items.decode(raw)
    except UNREADABLE:
        raise invalid(where, "must be an array") from None


def text_of(raw: Raw, where: str) -> str:
    try:
        return _text.decode(raw)
    except UNREADABLE:
        raise invalid(where, "must be a string") from None


def anything_of(raw: Raw) -> Any:
    """The value, or ``None`` for one that cannot be read."""
    try:
        return _anything.decode(raw)
    except UNREADABLE:
        return None


def take(members: Members, name: str) -> Raw | None:
    """A member as it stands; ``None`` when it is absent or null."""
    raw = members.pop(name, None)
    return None if raw is None or is_null(raw) else raw


def take_text(members: Members, name: str, where: str = "") -> str | None:
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        text: str | None = _text_or_null.decode(raw)
        return text
    except UNREADABLE:
        raise invalid(f"{where}{name}", "must be a string") from None


def take_object(members: Members, name: str, where: str = "") -> Members | None:
    raw = take(members, name)
    return None if raw is None else object_of(raw, where + name)


def take_items(members: Members, name: str, where: str = "") -> list[Raw] | None:
    raw = take(members, name)
    return None if raw is None else items_of(raw, where + name)


def take_flag(members: Members, name: str, where: str = "") -> bool | None:
    raw = take(members, name)
    if raw is None:
        return None
    try:
        return _flag.decode(raw)
    except UNREADABLE:
        raise invalid(f"{where}{name}", "must be true or false") from None


def take_number(members: Members, name: str, where: str = "") -> float | None:
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        value: float | None = _number_or_null.decode(raw)
    except UNREADABLE:
        raise invalid(f"{where}{name}", "must be a number") from None
    if value is not None and not math.isfinite(value):
        raise invalid(f"{where}{name}", "must be a finite number")
    return value


def take_whole(members: Members, name: str, where: str = "") -> int | None:
    """An integer, also one that was written with a fraction of zero."""
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        whole: int | None = _whole_or_null.decode(raw)
        return whole
    except UNREADABLE:
        value = anything_of(raw)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise invalid(f"{where}{name}", "must be an integer")


def rest(members: Members) -> Members:
    """What was not taken, without nulls."""
    return {name: raw for name, raw in members.items() if not is_null(raw)}


def keep_rest(members: Members, name: str, leftover: Members) -> None:
    """Put what was left of a nested object back in its place, when anything was."""
    leftover = rest(leftover)
    if leftover:
        members[name] = Raw(encode(leftover))


def merge(written: dict[str, Any], extra: Mapping[str, Raw]) -> None:
    """Add members that are not there yet; nested objects are completed the same way."""
    for name, raw in extra.items():
        held = written.get(name)
        if held is None:
            written[name] = raw
        elif isinstance(held, dict) and is_object(raw):
            merge(held, _object.decode(raw))
