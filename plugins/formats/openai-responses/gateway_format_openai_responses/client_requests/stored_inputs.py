"""What of a request stands for input that the vendor keeps: answers, files and containers."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from gateway_core import Foreign, Media, Tool, Turn
from gateway_formats.references import find_references, is_only_an_id

from .._dialect import ELSEWHERE
from .members import Members

_REFERENCE = "item_reference"
_THINKING = "rs_"
"""How the ids of thinking begin, which no other vendor could read anyway."""


class _Referred(Struct, frozen=True):
    id: str = ""


class _Service(Struct, frozen=True):
    """What a declaration of the vendor's own tool may refer to."""

    vector_store_ids: list[str] | None = None
    container: Raw = Raw(b"null")


class _Container(Struct, frozen=True):
    file_ids: list[str] | None = None


_referred = msgspec.json.Decoder(_Referred)
_service = msgspec.json.Decoder(_Service)
_container = msgspec.json.Decoder(str | _Container | None)


def find_stored_inputs(
    body: Members, turns: Iterable[Turn], tools: Iterable[Tool]
) -> tuple[str, ...]:
    """Their names, as the client wrote them."""
    names = [name for name in ELSEWHERE if name in body]
    names += find_references(turns, _name)
    for tool in tools:
        # Vector stores and containers live in the vendor's account and nowhere else.
        if tool.hosted not in ("file_search", "code_execution") or tool.raw is None:
            continue
        try:
            service = _service.decode(tool.raw)
            container = _container.decode(service.container)
        except msgspec.MsgspecError:
            continue
        if service.vector_store_ids:
            names.append("vector_store_ids")
        if container if not isinstance(container, _Container) else container.file_ids:
            names.append("container")
    return tuple(names)


def _name(part: Media | Foreign, turn: Turn) -> str | None:
    if isinstance(part, Media):
        return "file_id" if is_only_an_id(part) else None
    if part.type != _REFERENCE:
        return None
    try:
        is_thinking = _referred.decode(part.raw).id.startswith(_THINKING)
    except msgspec.MsgspecError:
        return _REFERENCE
    return None if is_thinking else _REFERENCE
