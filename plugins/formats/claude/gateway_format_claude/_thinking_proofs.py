"""Other vendors' proofs of thinking, in this wire's two slots for its own.

A thinking block has a ``signature`` and a redacted one has ``data``; clients
send both back as they came. A plain value goes in with the name of its origin
before it. Thinking that also has an id, or a sealed form beside its text, goes
in packed. A value that the client brought without a name is this dialect's own.
"""

from msgspec.structs import replace

from gateway_core import Reasoning, seal, seal_id, unseal, unseal_id

from ._dialect import DIALECT

_OWN = f"~{DIALECT}"


def signature_slot(part: Reasoning) -> str:
    """What a thinking block carries beside its text; empty when there is no proof."""
    if part.sealed is None and part.signature is None:
        return ""
    if part.sealed is None and part.id is None and not part.summary:
        return seal(part.origin, part.signature or "")
    return _packed(part)


def data_slot(part: Reasoning) -> str:
    """What a redacted block carries for thinking of which only the sealed form is known."""
    if part.id is None and part.signature is None and not part.summary:
        return seal(part.origin, part.sealed or "")
    return _packed(part)


def from_signature(signature: str, text: str) -> Reasoning:
    """The thinking that a client sends back with its signature slot."""
    if not signature:
        return Reasoning(text=text)
    sealed = unseal(signature)
    if sealed is not None:
        return Reasoning(text=text, signature=sealed[1], origin=sealed[0])
    return _unpacked(signature, text) or Reasoning(text=text, signature=signature, origin=_OWN)


def from_data(data: str) -> Reasoning:
    sealed = unseal(data)
    if sealed is not None:
        return Reasoning(sealed=sealed[1], origin=sealed[0])
    return _unpacked(data, "") or Reasoning(sealed=data, origin=_OWN)


def _packed(part: Reasoning) -> str:
    return seal_id("", part.origin, None, (replace(part, text="", cache=None, extra={}),))


def _unpacked(slot: str, text: str) -> Reasoning | None:
    """``None`` for a value that was not packed here; plain text for one that was damaged."""
    plain, origin, _, packed = unseal_id(slot)
    if plain == slot:
        return None
    return replace(packed[0], text=text, origin=origin) if packed else Reasoning(text=text)
