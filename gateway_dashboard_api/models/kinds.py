"""The kinds of models, in all the spellings that clients use."""

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.kinds import Kind, read_kind
from gateway_core.routing.snapshot import ConfigSnapshot


def kind_of(snapshot: ConfigSnapshot, word: str | None) -> str:
    """Read ``image-to-text`` and ``imageToText`` alike; nothing means chat.

    Raises BadRequest for a word that names no kind.
    """
    kind = read_kind(word)
    if kind not in known_kinds(snapshot):
        raise BadRequest(f"Invalid kind: {(word or '')[:64]}")
    return kind


def known_kinds(snapshot: ConfigSnapshot) -> frozenset[str]:
    """The gateway's own kinds, and those that plugins bring."""
    formats = snapshot.registry.formats.values()
    return frozenset({*Kind, *(e.kind for wire in formats for e in wire.endpoints)})
