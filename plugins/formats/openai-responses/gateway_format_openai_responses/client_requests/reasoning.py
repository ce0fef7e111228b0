"""Read reasoning items and the proof that came back in ``encrypted_content``."""

from gateway_core import Reasoning

from .._dialect import DIALECT
from .._reasoning import GAP, as_parts, unpack
from .members import Members


def read_reasoning(item: Members) -> list[Reasoning]:
    """One part, or two where an item holds both a summary and the thinking itself."""
    summary, content = _texts(item, "summary"), _texts(item, "content")
    identity, sealed = item.text("id"), item.text("encrypted_content")
    item.raw("status")
    parts = None if sealed is None else unpack(sealed)
    if parts:
        return list(parts)
    origin = f"~{DIALECT}"
    if parts is not None:  # damaged on the way: the words may still be good
        identity, sealed, origin = None, None, ""
    return as_parts(
        Reasoning(id=identity, sealed=sealed, origin=origin, extra=item.rest()), summary, content
    )


def _texts(item: Members, name: str) -> str:
    pieces = item.rows(name) or ()
    return GAP.join(filter(None, (piece.text("text") for piece in pieces)))
