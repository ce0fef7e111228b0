"""Reading and editing a JSON object's top-level members, every value's bytes left alone.

What the gateway has read is what it sends: the object is always written again
from the members that were read, so a repeated member cannot mean one thing
here and another at the vendor. Values keep their spelling, numbers included;
only white space between the members goes.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product

import msgspec
from msgspec import Raw

from ..contracts.errors import BadRequest
from ..contracts.provider import Target

_NOTE = "_"
"""What begins a member that is the client's own note, which vendors refuse."""
_BEHIND_NOTES = chr(ord(_NOTE) + 1)
_SPELLINGS = frozenset(map("".join, product(*zip("model", "MODEL", strict=True)))) - {"model"}
"""What some vendors take for ``model``."""
LONG = 256 * 1024
"""A body that is longer is put together from its parts."""
_members = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


def members_of(body: bytes) -> dict[str, Raw]:
    """The top-level members. Raises BadRequest for anything but a JSON object."""
    try:
        # Values stay undecoded: numbers keep their digits, strings their escapes.
        return _members.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"Invalid JSON body: {error}") from None


def fitted(members: Mapping[str, Raw], target: Target, size: int = 0) -> bytes:
    """The body for this target: without what it rejects, with its own names for the rest.

    ``size`` is about how long it will be, where that is known.
    """
    provider, unsupported = target.provider, target.model.unsupported
    # Nearly all names come behind all notes in the order of characters, which is quickly seen.
    may_have_notes = bool(members) and min(members) < _BEHIND_NOTES
    changed = provider.rename or provider.drop or provider.fixed or unsupported
    if not (changed or may_have_notes):
        return _encode(members) if size < LONG else _joined(members)
    kept = {
        provider.rename.get(name, name): value
        for name, value in members.items()
        if name not in provider.drop and name not in unsupported and name[:1] != _NOTE
    }
    kept.update(provider.fixed)
    return _encode(kept) if size < LONG else _joined(kept)


def _joined(members: Mapping[str, Raw]) -> bytes:
    """A long object, in a block that is no longer than it; the encoder's would be half as long
    again."""
    parts: list[bytes | Raw] = []
    for name, value in members.items():
        parts += (b"," if parts else b"{", _encode(name), b":", value)
    return b"".join((*parts, b"}")) if parts else b"{}"


def with_model(members: dict[str, Raw], model: str) -> dict[str, Raw]:
    """Name the vendor's model in place of the client's.

    Some vendors take ``Model`` for ``model``, so no other spelling stays beside it.
    """
    if not _SPELLINGS.isdisjoint(members):
        for name in _SPELLINGS.intersection(members):
            del members[name]
    members["model"] = _text_of(model)
    return members


@lru_cache(maxsize=1024)
def _text_of(text: str) -> Raw:
    return Raw(_encode(text))
