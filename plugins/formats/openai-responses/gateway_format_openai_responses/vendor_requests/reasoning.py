"""Write reasoning items, with the proof that a vendor wants back."""

from typing import Any

from msgspec.structs import replace

from gateway_core import Reasoning

from .._dialect import DIALECT
from .._scope import Scope


def write_reasoning(part: Reasoning, scope: Scope) -> dict[str, Any] | None:
    """An item the vendor will take, or ``None`` with the loss noted.

    Thinking without a proof is refused by a vendor that looks items up, so it
    goes only to one that is known to take it, or as the client itself brought it.
    """
    readable = scope.reads(part.origin)
    if not readable or (part.sealed is None and part.origin != f"~{DIALECT}"):
        if part.sealed is not None or part.signature is not None:
            scope.losses.add("reasoning_signature")
        if not part.text:
            return None
        if scope.allows("plain_reasoning"):
            return _write_item(replace(part, id=None, summary=False))
        scope.losses.add("reasoning")
        return None
    item = _write_item(part)
    if part.sealed is not None:
        item["encrypted_content"] = part.sealed
    scope.put_extra(item, part.extra)
    return item


def _write_item(part: Reasoning) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "reasoning", "summary": []}
    if part.id is not None:
        item["id"] = part.id
    if part.text and part.summary:
        item["summary"] = [{"type": "summary_text", "text": part.text}]
    elif part.text:
        item["content"] = [{"type": "reasoning_text", "text": part.text}]
    return item
