"""Tool arguments, which this dialect writes as a JSON object and the hub keeps as JSON text."""

from hashlib import blake2s

import msgspec
from msgspec import Raw

from ._dialect import BROKEN

_object = msgspec.json.Decoder(dict[str, Raw])
_raw = msgspec.json.Decoder(Raw)
_text = msgspec.json.Decoder(str)
_encode = msgspec.json.encode

WRAPPER = "input"
"""The member under which arguments stand that are no JSON object."""


def as_object(arguments: str) -> Raw:
    """Arguments as a JSON object on one line; what is no object is wrapped into one."""
    text = arguments.strip()
    if not text:
        return Raw(b"{}")
    try:
        _object.decode(text)
    except BROKEN:
        try:
            value: object = _raw.decode(text)
        except BROKEN:
            value = text
        return Raw(_encode({WRAPPER: value}))
    # A line break would end the line of the stream.
    if "\n" in text or "\r" in text:
        text = msgspec.json.format(text, indent=-1)
    return Raw(text.encode())


def as_text(arguments: Raw | None) -> str:
    """The JSON text of an object, or the text that a careless sender quoted once more."""
    encoded = b"{}" if arguments is None else bytes(arguments)
    # A careless sender quotes the object's text once more.
    if encoded.startswith(b'"'):
        return _text.decode(encoded)
    return "{}" if encoded == b"null" else encoded.decode()


def new_id(seed: str, index: int) -> str:
    """An id for a call that came without one; equal for equal seeds, so nothing is remembered."""
    return f"call_{blake2s(f'{seed}/{index}'.encode(), digest_size=8).hexdigest()}"
