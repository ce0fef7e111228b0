"""The content of messages and of tool results: a string, or an array of typed pieces."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Media, Refusal, Text

from .annotations import read_citation, write_annotation
from .dialect import DIALECT, MESSAGE, ON_MESSAGE
from .media import (
    read_cache,
    read_file,
    read_image,
    read_sound,
    write_cache,
    write_media,
)
from .members import ARRAY, TEXT, Members, decoded, missing, mistyped, opening, rows, unsupported
from .scope import Scope

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
        return (Text(text=decoded(raw, TEXT, place, "a string")),)
    if kind != b"[":
        raise mistyped(place, "a string or an array")
    found = decoded(raw, ARRAY, place, "an array")
    return tuple(map(_read_piece, found, rows(found, place)))


def _read_piece(raw: Raw, members: Members) -> AnyPart:
    kind = members.needed("type")
    read = _READERS.get(kind)
    if read is not None:
        return read(members)
    if kind.startswith(("input_", "output_")):
        return Foreign(dialect=DIALECT, type=MESSAGE + kind, raw=raw)
    raise unsupported(members.place("type"), kind, SUPPORTED)


def _read_text(piece: Members) -> Text:
    text = piece.needed("text")
    citations = tuple(map(read_citation, piece.array("annotations") or ()))
    cache, extra = read_cache(piece), piece.rest()
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


def write_content(parts: Iterable[AnyPart], scope: Scope) -> str | list[Any]:
    """Content for a user, a developer or a tool; a lone plain text is a string."""
    pieces = [piece for part in parts if (piece := _write_piece(part, scope)) is not None]
    if not pieces:
        return ""
    first = pieces[0]
    if len(pieces) == 1 and isinstance(first, dict) and first.keys() == {"type", "text"}:
        return str(first["text"])
    return pieces


def _write_piece(part: AnyPart, scope: Scope) -> dict[str, Any] | Raw | None:
    match part:
        case Text() | Refusal():
            return _write_text(part, scope)
        case Media():
            return write_media(part, scope)
        case Foreign() if scope.own and part.dialect == DIALECT:
            return part.raw
    scope.losses.add(f"part:{part.type if isinstance(part, Foreign) else part.__class__.__name__}")
    return None


def _write_text(part: Text | Refusal, scope: Scope) -> dict[str, Any] | None:
    if not part.text and not scope.own:
        return None  # Some vendors of this format refuse an empty text.
    piece: dict[str, Any] = {"type": "input_text", "text": part.text}
    write_cache(piece, part.cache, scope)
    scope.put_extra(piece, part.extra)
    return piece


def write_spoken(part: Text | Refusal, scope: Scope) -> dict[str, Any]:
    """A piece of the model's own content."""
    extra = {n: raw for n, raw in part.extra.items() if not is_on_message(n)}
    if isinstance(part, Refusal):
        piece: dict[str, Any] = {"type": "refusal", "refusal": part.text}
    else:
        piece = {"type": "output_text", "text": part.text, "annotations": _annotations(part, scope)}
    write_cache(piece, part.cache, scope)
    scope.put_extra(piece, extra)
    return piece


def _annotations(part: Text, scope: Scope) -> list[Raw]:
    written = [write_annotation(citation, len(part.text)) for citation in part.citations]
    if None in written:
        scope.losses.add("citations")
    return [Raw(annotation) for annotation in written if annotation is not None]


def is_on_message(name: str) -> bool:
    """Whether a member of a part's ``extra`` belongs to the message around it."""
    return name in ON_MESSAGE or name.startswith(MESSAGE)
