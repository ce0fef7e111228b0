"""What of a request stands for input that the vendor keeps: files, and a container's."""

from collections.abc import Iterable

from msgspec import Raw

from gateway_core import Foreign, Media, Turn
from gateway_formats.references import find_references, is_only_an_id

from .dialect import Extra

CONTAINER = "container"
_UPLOAD = "container_upload"
_NULL = Raw(b"null")


def elsewhere(turns: Iterable[Turn], given: Extra) -> tuple[str, ...]:
    """Their names, as the client wrote them."""
    container = (CONTAINER,) if given.get(CONTAINER, _NULL) != _NULL else ()
    return (*container, *find_references(turns, _name))


def _name(part: Media | Foreign, turn: Turn) -> str | None:
    if isinstance(part, Foreign):
        return part.type if part.type == _UPLOAD else None
    return "file_id" if is_only_an_id(part) else None
