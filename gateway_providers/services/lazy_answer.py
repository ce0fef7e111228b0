"""A vendor's JSON object of which only what is looked at is decoded: vectors and pictures are
large, and most answers go on as they came."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

_members = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_anything = msgspec.json.Decoder().decode


class LazyAnswer(Mapping[str, Any]):
    """Decodes a member each time it is asked for."""

    def __init__(self, body: bytes) -> None:
        """Raises what decoding raises for anything but an object."""
        self.raw = _members(body)

    def __getitem__(self, name: str) -> Any:
        return _anything(self.raw[name])

    def get(self, name: str, default: Any = None) -> Any:
        raw = self.raw.get(name)
        return default if raw is None else _anything(raw)

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


def first_byte(raw: Raw) -> bytes:
    """What tells the type of a value, without a copy of all of it."""
    return memoryview(raw)[:1].tobytes()


def length_of(answer: Any, name: str) -> int:
    """How many items a list in an answer has; 0 where there is no list."""
    if isinstance(answer, LazyAnswer):
        raw = answer.raw.get(name)
        return len(_items(raw)) if raw is not None and first_byte(raw) == b"[" else 0
    value = answer.get(name) if isinstance(answer, Mapping) else None
    return len(value) if isinstance(value, list) else 0
