"""Reasoning items, and the sealed thinking of any vendor inside ``encrypted_content``.

What a client gets as ``encrypted_content`` is the whole part, packed with
``seal_id``: the text too, because some clients keep only the opaque member and
a vendor that signed its thinking wants the very words back. It is written for
thinking that has no proof as well, so that the gateway knows the item as its
own when it returns and never passes it to a vendor that would look for its id.
"""

from typing import Any

from msgspec.structs import replace

from gateway_core import Reasoning, seal_id, unseal, unseal_id

from .dialect import DIALECT
from .members import Members
from .scope import Scope

GAP = "\n\n"
"""Between the pieces of one item's text, which is a single part in the hub."""


def pack(part: Reasoning) -> str:
    """The part as a value that every client returns as it got it."""
    return seal_id("", part.origin, None, (replace(part, extra={}, cache=None),))


def unpack(value: str) -> tuple[Reasoning, ...] | None:
    """The parts inside a value that was packed here, ``None`` for any other value."""
    if (opened := unseal(value)) is not None:
        origin, sealed = opened
        return (Reasoning(sealed=sealed, origin=origin),)
    call_id, _, _, parts = unseal_id(value)
    return None if call_id else parts


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


def as_parts(item: Reasoning, summary: str, content: str) -> list[Reasoning]:
    """The item as parts of one kind of text each; the last has the proof."""
    if summary and content:
        shown = Reasoning(text=summary, summary=True, id=item.id, origin=item.origin)
        return [shown, replace(item, text=content)]
    return [replace(item, text=content or summary, summary=bool(summary))]


def _texts(item: Members, name: str) -> str:
    pieces = item.rows(name) or ()
    return GAP.join(filter(None, (piece.text("text") for piece in pieces)))


def write_reasoning(part: Reasoning, scope: Scope) -> dict[str, Any] | None:
    """An item the vendor will take, or ``None`` with the loss noted.

    Thinking without a proof is refused by a vendor that looks items up, so it
    goes only to one that is known to take it, or as the client itself brought it.
    """
    readable = scope.reads(part.origin)
    if not readable or (part.sealed is None and part.origin != f"~{DIALECT}"):
        return _unproven(part, scope)
    item = _worded(part)
    if part.sealed is not None:
        item["encrypted_content"] = part.sealed
    scope.put_extra(item, part.extra)
    return item


def _unproven(part: Reasoning, scope: Scope) -> dict[str, Any] | None:
    if part.sealed is not None or part.signature is not None:
        scope.losses.add("reasoning_signature")
    if not part.text:
        return None
    if scope.allows("plain_reasoning"):
        return _worded(replace(part, id=None, summary=False))
    scope.losses.add("reasoning")
    return None


def _worded(part: Reasoning) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "reasoning", "summary": []}
    if part.id is not None:
        item["id"] = part.id
    if part.text and part.summary:
        item["summary"] = [{"type": "summary_text", "text": part.text}]
    elif part.text:
        item["content"] = [{"type": "reasoning_text", "text": part.text}]
    return item
