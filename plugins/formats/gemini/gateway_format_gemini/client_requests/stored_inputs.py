"""What of a request stands for input that the vendor keeps: caches, files and stores."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from gateway_core import Foreign, Media, Tool, Turn
from gateway_formats.references import find_references, is_only_an_id

from .._members import Members, camel

CACHE = "cachedContent"
_STORES = "fileSearchStoreNames"
_BUCKET = "gs://"
_EMPTY = Raw(b'""')

_members = msgspec.json.Decoder(dict[str, dict[str, Raw]])


def elsewhere(turns: Iterable[Turn], tools: Iterable[Tool], extra: Members) -> tuple[str, ...]:
    """Their names, as the client wrote them."""
    caches = [name for name, raw in extra.items() if camel(name) == CACHE and raw != _EMPTY]
    stores = [name for tool in tools if tool.hosted == "file_search" for name in _stores(tool)]
    return (*caches, *find_references(turns, _name), *stores)


def _name(part: Media | Foreign, turn: Turn) -> str | None:
    if isinstance(part, Foreign):
        return None
    is_in_bucket = part.url is not None and part.url.startswith(_BUCKET)
    return "fileUri" if is_in_bucket or is_only_an_id(part) else None


def _stores(tool: Tool) -> list[str]:
    """What a search through files names to search in."""
    try:
        [given] = _members.decode(tool.raw or b"").values()
    except (msgspec.MsgspecError, ValueError):
        return []
    return [name for name in given if camel(name) == _STORES]
