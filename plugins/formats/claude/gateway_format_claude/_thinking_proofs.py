"""Carries other vendors' proofs of thinking in this wire's two slots for its own.

A thinking block has a ``signature`` and a redacted one has ``data``; clients send both back as
they came. A plain value goes in with the name of its origin before it. Thinking that also has an
id, or a sealed form beside its text, goes in packed. A value that comes without an origin is this
dialect's own.
https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
"""

from msgspec.structs import replace

from gateway_core import Reasoning, seal, seal_id, unseal, unseal_id

from ._dialect import DIALECT

_OWN = f"~{DIALECT}"


def write_signature(part: Reasoning) -> str:
    """The ``signature`` of a thinking block; empty when there is no proof."""
    if part.sealed is None and part.signature is None:
        return ""
    if part.sealed is None and part.id is None and not part.summary:
        return seal(part.origin, part.signature or "")
    return _pack(part)


def write_data(part: Reasoning) -> str:
    """The ``data`` of a redacted block, for thinking of which only the sealed form is known."""
    if part.id is None and part.signature is None and not part.summary:
        return seal(part.origin, part.sealed or "")
    return _pack(part)


def read_signature(signature: str, text: str) -> Reasoning:
    """The thinking of a block that a client sends back."""
    if not signature:
        return Reasoning(text=text)
    sealed = unseal(signature)
    if sealed is not None:
        return Reasoning(text=text, signature=sealed[1], origin=sealed[0])
    return _unpack(signature, text) or Reasoning(text=text, signature=signature, origin=_OWN)


def read_data(data: str) -> Reasoning:
    sealed = unseal(data)
    if sealed is not None:
        return Reasoning(sealed=sealed[1], origin=sealed[0])
    return _unpack(data, "") or Reasoning(sealed=data, origin=_OWN)


def _pack(part: Reasoning) -> str:
    return seal_id("", part.origin, None, (replace(part, text="", cache=None, extra={}),))


def _unpack(slot: str, text: str) -> Reasoning | None:
    """``None`` for a value that was not packed here; plain text for one that was damaged."""
    plain, origin, _, packed = unseal_id(slot)
    if plain == slot:
        return None
    return replace(packed[0], text=text, origin=origin) if packed else Reasoning(text=text)
