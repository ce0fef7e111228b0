"""Earlier thinking: the members that carry it in a message, read and written.

Vendors of this dialect spell it in four ways: ``reasoning_content`` and
``reasoning`` hold plain text, ``reasoning_details`` a list of pieces with
signatures and sealed data, and one vendor puts it among the content.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Reasoning

from ._contents import OWN
from ._members import (
    DIALECT,
    Members,
    anything_of,
    invalid,
    is_text,
    merge,
    object_of,
    rest,
    take_items,
    take_text,
)

_WORDS = {"reasoning.text": "text", "reasoning.summary": "summary"}

SEALED = "reasoning.encrypted"

# https://openrouter.ai/docs/use-cases/reasoning-tokens#reasoning_details-api-shape
_FORMATS = {
    "openai": "openai-responses-v1",
    "google": "google-gemini-v1",
    "x-ai": "xai-responses-v1",
}
"""How a router names the maker of sealed thinking, by the first part of a model's id."""


def take_history(members: Members, where: str) -> tuple[AnyPart, ...]:
    """The thinking a client sends back with an assistant message."""
    plain = _take_plain(members, "reasoning_content") or ""
    other = _take_plain(members, "reasoning") or ""
    details = take_items(members, "reasoning_details", f"{where}.")
    parts = tuple(
        read_detail(raw, OWN, f"{where}.reasoning_details[{index}]")
        for index, raw in enumerate(details or ())
    )
    if parts:  # the plain text beside the details repeats them
        return parts
    text = plain or other
    return (Reasoning(text=text),) if text else ()


def _take_plain(members: Members, name: str) -> str | None:
    raw = members.get(name)
    return take_text(members, name) if raw is not None and is_text(raw) else None


def read_detail(raw: Raw, origin: str, where: str) -> Reasoning | Foreign:
    """One piece of ``reasoning_details``. Raises BadRequest when it is no object."""
    members = object_of(raw, where)
    kind = take_text(members, "type", f"{where}.")
    if kind is None:
        raise invalid(f"{where}.type", "is missing")
    if kind != SEALED and kind not in _WORDS:
        return Foreign(dialect=DIALECT, type=kind, raw=raw)
    signature = take_text(members, "signature", f"{where}.") or None
    sealed = take_text(members, "data", f"{where}.") if kind == SEALED else None
    return Reasoning(
        text=take_text(members, _WORDS.get(kind, "text"), f"{where}.") or "",
        signature=signature,
        sealed=sealed,
        origin=origin if signature or sealed else "",
        id=take_text(members, "id", f"{where}."),
        summary=kind == "reasoning.summary",
        extra=rest(members),
    )


def write_details(
    parts: Iterable[Reasoning | Foreign], own: bool, model: str
) -> list[dict[str, Any] | Raw]:
    """The pieces of ``reasoning_details``; signatures must already be fit for the vendor."""
    pieces: list[dict[str, Any] | Raw] = []
    for part in parts:
        if isinstance(part, Foreign):
            pieces.append(part.raw)
            continue
        kind = "summary" if part.summary else "text"
        shown: dict[str, Any] = {"type": f"reasoning.{kind}"}
        if part.text:
            shown[kind] = part.text
        if part.signature is not None:
            shown["signature"] = part.signature
        sealed: dict[str, Any] = {"type": SEALED}
        if part.sealed is not None:
            sealed["data"] = part.sealed
        for piece in (shown, sealed):
            if len(piece) < 2:
                continue  # nothing but its type
            if part.id is not None:
                piece["id"] = part.id
            if own:
                merge(piece, dict(part.extra))
            maker = _FORMATS.get(model.partition("/")[0])
            if "format" not in piece and maker and (part.signature or part.sealed):
                piece["format"] = maker
            pieces.append(piece)
    return pieces


def without_repeats(plain: Sequence[AnyPart], sealed: Sequence[Reasoning]) -> list[AnyPart]:
    """Visible thinking less what also came back sealed in a tool call's id."""
    if not sealed:
        return list(plain)
    left: list[AnyPart] = []
    for part in plain:
        if not isinstance(part, Reasoning) or part.signature or part.sealed:
            left.append(part)
            continue
        text = part.text
        for piece in sealed:
            if piece.text:
                text = text.replace(piece.text, "", 1)
        if text.strip():
            left.append(Reasoning(text=text.strip() if text != part.text else text))
    return left


def take_signature(members: Members) -> str | None:
    """A vendor's proof of a message or a tool call, out of ``extra_content``."""
    raw = members.get("extra_content")
    value: Any = None if raw is None else anything_of(raw)
    signature = read_signature(value)
    if signature is not None:
        members_of_google = set(value["google"])
        if set(value) == {"google"} and members_of_google <= {"thought", "thought_signature"}:
            del members["extra_content"]
    return signature


# https://ai.google.dev/gemini-api/docs/openai#thought-signatures
def read_signature(value: Any) -> str | None:
    """``google.thought_signature`` in the value of ``extra_content``."""
    google = value.get("google") if isinstance(value, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    return signature if isinstance(signature, str) and signature else None


def write_signature(signature: str) -> dict[str, Any]:
    return {"google": {"thought_signature": signature}}
