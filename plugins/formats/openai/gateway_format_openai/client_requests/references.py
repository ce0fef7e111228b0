"""What of a request refers to input that the vendor keeps: files, and spoken answers."""

from collections.abc import Iterable

from gateway_core import Foreign, Media, Text, Turn
from gateway_formats.references import find_references, is_only_an_id

from ..client_replies import NO_SPEECH_ID


def find_vendor_references(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Their names, as the client wrote them."""

    def name_of(part: Media | Foreign, turn: Turn) -> str | None:
        if isinstance(part, Foreign) or not is_only_an_id(part):
            return None
        if part.kind != "audio":
            return "file_id"
        # A transcript beside the id carries the answer too, and an audio answer without an id
        # of its vendor's cannot be referred to.
        has_text = any(isinstance(other, Text) for other in turn.parts)
        return None if has_text or part.file_id == NO_SPEECH_ID else "audio.id"

    return tuple(find_references(turns, name_of))
