"""Reasoning items, and the sealed thinking of any vendor inside ``encrypted_content``.

What a client gets as ``encrypted_content`` is the whole part, packed with
``seal_id``: the text too, because some clients keep only the opaque member and
a vendor that signed its thinking wants the very words back. It is written for
thinking that has no proof as well, so that the gateway knows the item as its
own when it returns and never passes it to a vendor that would look for its id.
"""

from msgspec.structs import replace

from gateway_core import Reasoning, seal_id, unseal, unseal_id

GAP = "\n\n"
"""Between the pieces of one item's text, which is a single part in the hub."""


def pack(part: Reasoning) -> str:
    """The part as a value that every client returns as it got it."""
    return seal_id("", part.origin, None, (replace(part, extra={}, cache=None),))


def unpack(value: str) -> tuple[Reasoning, ...] | None:
    """The parts inside a value that was packed here, ``None`` for any other value."""
    # A sealed value and its origin, without the text.
    if (opened := unseal(value)) is not None:
        origin, sealed = opened
        return (Reasoning(sealed=sealed, origin=origin),)
    call_id, _, _, parts = unseal_id(value)
    return None if call_id else parts


def as_parts(item: Reasoning, summary: str, content: str) -> list[Reasoning]:
    """The item as parts of one kind of text each; the last has the proof."""
    if summary and content:
        shown = Reasoning(text=summary, summary=True, id=item.id, origin=item.origin)
        return [shown, replace(item, text=content)]
    return [replace(item, text=content or summary, summary=bool(summary))]
