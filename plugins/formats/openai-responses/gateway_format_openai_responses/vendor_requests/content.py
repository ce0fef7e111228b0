"""Write the content of messages and of tool results: a string, or an array of typed pieces."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Media, Refusal, Text

from .._annotations import write_annotation
from .._dialect import DIALECT, is_on_message
from .._scope import Scope
from .media import write_cache, write_media


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
            if not part.text and not scope.own:
                return None  # Some vendors of this format refuse an empty text.
            piece: dict[str, Any] = {"type": "input_text", "text": part.text}
            write_cache(piece, part.cache, scope)
            scope.put_extra(piece, part.extra)
            return piece
        case Media():
            return write_media(part, scope)
        case Foreign() if scope.own and part.dialect == DIALECT:
            return part.raw
    scope.losses.add(f"part:{part.type if isinstance(part, Foreign) else part.__class__.__name__}")
    return None


def write_output_piece(part: Text | Refusal, scope: Scope) -> dict[str, Any]:
    """A piece of the model's own content."""
    extra = {n: raw for n, raw in part.extra.items() if not is_on_message(n)}
    if isinstance(part, Refusal):
        piece: dict[str, Any] = {"type": "refusal", "refusal": part.text}
    else:
        written = [write_annotation(citation, len(part.text)) for citation in part.citations]
        if None in written:
            scope.losses.add("citations")
        annotations = [Raw(annotation) for annotation in written if annotation is not None]
        piece = {"type": "output_text", "text": part.text, "annotations": annotations}
    write_cache(piece, part.cache, scope)
    scope.put_extra(piece, extra)
    return piece
