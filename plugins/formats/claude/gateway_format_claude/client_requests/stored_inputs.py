"""Names what a request takes from the vendor's own storage: uploaded files and containers."""

from collections.abc import Iterable

from msgspec import Raw

from gateway_core import Foreign, Media, Turn
from gateway_formats.references import find_references, is_only_an_id

from .._dialect import Extra

CONTAINER = "container"
_UPLOAD = "container_upload"
_NULL = Raw(b"null")


def find_stored_inputs(turns: Iterable[Turn], body: Extra) -> tuple[str, ...]:
    """Their names, as the client wrote them."""

    def name_of(part: Media | Foreign, turn: Turn) -> str | None:
        if isinstance(part, Foreign):
            return part.type if part.type == _UPLOAD else None
        return "file_id" if is_only_an_id(part) else None

    # A container keeps files between requests, and only the vendor that made it has it:
    # https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/code-execution-tool
    container = (CONTAINER,) if body.get(CONTAINER, _NULL) != _NULL else ()
    return (*container, *find_references(turns, name_of))
