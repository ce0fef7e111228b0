"""Proofs of thinking in the one slot this dialect has: ``thoughtSignature``.

The slot stands on a text or on a function call and vouches for the thinking
before it, so it is where a foreign vendor's sealed thinking travels too:
clients give thinking parts up freely, but return signatures as they got them.
Clients insist on base64, and some write it back in its other alphabet.
"""

import base64
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import Reasoning, seal, seal_base64, seal_id, unseal, unseal_id

DIALECT = "gemini"
NATIVE = f"~{DIALECT}"

_MARK = base64.b64encode(seal("", "")[:-1].encode()).decode()
_ALPHABET = str.maketrans("-_", "+/")


class Opened(Struct, frozen=True):
    """What a client's ``thoughtSignature`` held."""

    origin: str
    signature: str | None
    reasoning: tuple[Reasoning, ...] = ()


def open_signature(value: str) -> Opened:
    """Undo :func:`seal_signature`; any other value is the vendor's own, brought by the client."""
    if not value.startswith(_MARK):
        return Opened(NATIVE, value)
    plain = _decoded(value)
    if plain is None:
        return Opened("", None)
    sealed = unseal(plain)
    if sealed is not None:
        return Opened(*sealed)
    _, origin, signature, reasoning = unseal_id(plain)
    return Opened(origin, signature, reasoning)


def seal_signature(origin: str, signature: str | None, reasoning: Sequence[Reasoning]) -> str:
    """One value for a part's own signature and the thinking that came before it."""
    carried = tuple(replace(each, extra={}) for each in reasoning if each.text or _proof(each))
    if not any(map(_proof, carried)):
        return seal_base64(origin, signature) if signature is not None else ""
    origin = origin if signature is not None else next(e.origin for e in carried if _proof(e))
    packed = seal_id("", origin, signature, carried)
    return base64.b64encode(packed.encode()).decode()


def sealed_json(origin: str, signature: str | None, reasoning: Sequence[Reasoning]) -> bytes:
    """The same as a JSON string; empty when there is nothing to carry."""
    value = seal_signature(origin, signature, reasoning)
    return msgspec.json.encode(value) if value else b""


def _proof(reasoning: Reasoning) -> str | None:
    return reasoning.signature or reasoning.sealed


def _decoded(value: str) -> str | None:
    """Base64 of either alphabet, with or without its padding."""
    plain = value.translate(_ALPHABET).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except ValueError:
        return None
