"""Names what a request takes from the vendor's own storage: caches, files and file stores."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from gateway_core import Foreign, Media, Tool, Turn
from gateway_formats.references import find_references, is_only_an_id

from .._members import Members, to_camel

# https://ai.google.dev/api/caching
CACHE = "cachedContent"
# https://ai.google.dev/gemini-api/docs/file-search
_STORES = "fileSearchStoreNames"
_BUCKET = "gs://"
_EMPTY = Raw(b'""')

_decode_members = msgspec.json.Decoder(dict[str, dict[str, Raw]]).decode


def find_stored_inputs(
    turns: Iterable[Turn], tools: Iterable[Tool], extra: Members
) -> tuple[str, ...]:
    """Their names, as the client wrote them."""

    def name_of(part: Media | Foreign, turn: Turn) -> str | None:
        if isinstance(part, Foreign):
            return None
        is_in_bucket = part.url is not None and part.url.startswith(_BUCKET)
        return "fileUri" if is_in_bucket or is_only_an_id(part) else None

    caches = [name for name, raw in extra.items() if to_camel(name) == CACHE and raw != _EMPTY]
    stores: list[str] = []
    for tool in tools:
        if tool.hosted != "file_search":
            continue
        try:
            [settings] = _decode_members(tool.raw or b"").values()
        except (msgspec.MsgspecError, ValueError):
            continue  # a search without settings names no store
        stores += [name for name in settings if to_camel(name) == _STORES]
    return (*caches, *find_references(turns, name_of), *stores)
