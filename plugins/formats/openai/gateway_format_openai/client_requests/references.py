"""What of a request stands for input that the vendor keeps: files, and answers it spoke."""

from collections.abc import Iterable

from gateway_core import Foreign, Media, Text, Turn
from gateway_formats.references import find_references, is_only_an_id

from ..client_replies import NO_SPEECH_ID


def elsewhere(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Their names, as the client wrote them."""
    return tuple(find_references(turns, _name))


def _name(part: Media | Foreign, turn: Turn) -> str | None:
    if isinstance(part, Foreign) or not is_only_an_id(part):
        return None
    if part.kind != "audio":
        return "file_id"
    # What was spoken may stand beside it as text; and some vendors' speech is kept by nobody.
    is_said = any(isinstance(other, Text) for other in turn.parts)
    return None if is_said or part.file_id == NO_SPEECH_ID else "audio.id"
