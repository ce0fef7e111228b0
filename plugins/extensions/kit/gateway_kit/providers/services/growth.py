"""A sample's answer with more in it than the sample has: several vectors, pictures, results or
scores, each with a mark of its own."""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import msgspec

from .service_call import ServiceCall

Path = tuple[str | int, ...]


def decode_reply(call: ServiceCall) -> Any:
    """The sample's answer; ``None`` where it is no JSON."""
    if not call.sample.is_json:
        return None
    try:
        return msgspec.json.decode(call.sample.reply)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def find_rows(reply: Any, shown: Sequence[bytes]) -> Path | None:
    """Where the list is whose first item holds what the client is shown, without another list
    between; ``None`` where there is none."""
    words = [word.decode("utf-8", "replace") for word in shown]

    def shows(value: Any) -> bool:
        if isinstance(value, dict):
            return any(map(shows, value.values()))
        return isinstance(value, str) and any(word == value for word in words)

    return next((path for path, rows in lists_in(reply) if rows and shows(rows[0])), None)


def find_vectors(reply: Any) -> Path | None:
    """Where the list of vectors is, or of objects that hold one each."""
    return next((path for path, rows in lists_in(reply) if rows and vector_in(rows[0])), None)


def vector_in(item: Any) -> Path | None:
    """Where the numbers of an item are, which is a vector or holds one."""
    if isinstance(item, list) and item and all(isinstance(each, float) for each in item):
        return ()
    if isinstance(item, dict):
        for name, value in item.items():
            inner = vector_in(value)
            if inner is not None:
                return (name, *inner)
    return None


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy with another value at a place."""
    if not path:
        return new
    changed = deepcopy(value)
    at(changed, path[:-1])[path[-1]] = new
    return changed


def mark_texts(item: Any, place: int) -> Any:
    """A copy of an item whose texts are those of another: addresses stay addresses, and base64
    stays base64."""
    if isinstance(item, dict):
        return {name: mark_texts(value, place) for name, value in item.items()}
    if not isinstance(item, str) or not item:
        return item
    if item.startswith(("http://", "https://")):
        return f"{item}-kit{place}"
    data, _, encoded = item.rpartition("base64,")
    if is_base64(encoded):
        mark = b64encode(b"\x89PNG\r\n\x1a\nkit-picture-%d" % place).decode()
        return f"{data}base64,{mark}" if data else mark
    return item


def is_base64(text: str) -> bool:
    """Whether a text can be nothing but base64: a word is seldom padded."""
    try:
        return text.endswith("=") and bool(b64decode(text, validate=True))
    except (NotBase64, ValueError):
        return False


def lists_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    """Every list, the outer ones first."""
    if isinstance(value, list):
        yield path, value
        for place, each in enumerate(value):
            yield from lists_in(each, (*path, place))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from lists_in(each, (*path, name))
