"""Carries proofs of thinking in the one slot that this dialect has: ``thoughtSignature``.

The slot stands on a text or on a function call and vouches for the thinking before it, so another
vendor's sealed thinking travels there too: clients may drop thinking parts, but return signatures
as they got them.
https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import base64
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import Reasoning, seal, seal_base64, seal_id, unseal, unseal_id

from ._dialect import NATIVE

_MARK = base64.b64encode(seal("", "")[:-1].encode()).decode()
_ALPHABET = str.maketrans("-_", "+/")


class OpenedSignature(Struct, frozen=True):
    """What a client's ``thoughtSignature`` held."""

    origin: str
    signature: str | None
    reasoning: tuple[Reasoning, ...] = ()


def open_signature(value: str) -> OpenedSignature:
    """Undo :func:`seal_signature`; any other value is the vendor's own, brought by the client."""
    if not value.startswith(_MARK):
        return OpenedSignature(NATIVE, value)
    # Some clients write base64 back in its URL-safe alphabet (RFC 4648, section 5), or unpadded.
    encoded = value.translate(_ALPHABET).rstrip("=")
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        plain = base64.b64decode(padded, validate=True).decode()
    except ValueError:
        return OpenedSignature("", None)
    sealed = unseal(plain)
    if sealed is not None:
        return OpenedSignature(*sealed)
    _, origin, signature, reasoning = unseal_id(plain)
    return OpenedSignature(origin, signature, reasoning)


def seal_signature(origin: str, signature: str | None, reasoning: Sequence[Reasoning]) -> str:
    """One value for a part's own signature and the thinking that came before it."""
    carried = tuple(replace(each, extra={}) for each in reasoning if each.text or _proof_of(each))
    if not any(map(_proof_of, carried)):
        return seal_base64(origin, signature) if signature is not None else ""
    origin = origin if signature is not None else next(e.origin for e in carried if _proof_of(e))
    # Clients of this format insist on base64 (RFC 4648), and some check it.
    packed = seal_id("", origin, signature, carried)
    return base64.b64encode(packed.encode()).decode()


def write_signature(origin: str, signature: str | None, reasoning: Sequence[Reasoning]) -> bytes:
    """The same as a JSON string; empty when there is nothing to carry."""
    value = seal_signature(origin, signature, reasoning)
    return msgspec.json.encode(value) if value else b""


def _proof_of(reasoning: Reasoning) -> str | None:
    return reasoning.signature or reasoning.sealed
