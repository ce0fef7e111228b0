"""Read the content of messages and of tool results: a string, or an array of typed pieces."""

from collections.abc import Callable

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Refusal, Text

from .._annotations import read_citation
from .._dialect import DIALECT, MESSAGE
from .media import read_cache, read_file, read_image, read_sound
from .members import (
    ARRAY,
    TEXT,
    Members,
    decode_member,
    missing,
    mistyped,
    opening,
    rows,
    unsupported,
)

NO_ROWS = Raw(b"[]")
SUPPORTED = ("input_text", "input_image", "input_file", "input_audio", "output_text", "refusal")


def read_content(holder: Members, name: str) -> tuple[AnyPart, ...]:
    """A member that must be there. Raises BadRequest."""
    raw = holder.raw(name)
    place = holder.place(name)
    if raw is None:
        raise missing(place)
    kind = opening(raw)
    if kind == b'"':
        return (Text(text=decode_member(raw, TEXT, place, "a string")),)
    if kind != b"[":
        raise mistyped(place, "a string or an array")
    pieces = decode_member(raw, ARRAY, place, "an array")
    parts: list[AnyPart] = []
    for piece, members in zip(pieces, rows(pieces, place), strict=True):
        type_name = members.needed("type")
        read = _READERS.get(type_name)
        if read is not None:
            parts.append(read(members))
        # New kinds of content keep working between a client and a vendor of this dialect.
        elif type_name.startswith(("input_", "output_")):
            parts.append(Foreign(dialect=DIALECT, type=MESSAGE + type_name, raw=piece))
        else:
            raise unsupported(members.place("type"), type_name, SUPPORTED)
    return tuple(parts)


def _read_text(piece: Members) -> Text:
    text = piece.needed("text")
    citations = tuple(map(read_citation, piece.array("annotations") or ()))
    cache, extra = read_cache(piece), piece.rest()
    # The vendor's own answers have an empty array here, which clients send back.
    if extra.get("logprobs") == NO_ROWS:
        del extra["logprobs"]
    return Text(text=text, citations=citations, cache=cache, extra=extra)


def _read_refusal(piece: Members) -> Refusal:
    return Refusal(text=piece.needed("refusal"), extra=piece.rest())


_READERS: dict[str, Callable[[Members], AnyPart]] = {
    "input_text": _read_text,
    "output_text": _read_text,
    "text": _read_text,
    "refusal": _read_refusal,
    "input_image": read_image,
    "input_file": read_file,
    "input_audio": read_sound,
}
