"""No turn of a conversation is left out as a whole."""

from gateway_core import Foreign, Media, PartUnsupported, Turn


def check_turn(turn: Turn) -> None:
    """Refuse a turn of which nothing could be written. Raises PartUnsupported.

    Thinking may stay behind, and so may the work of a vendor's own tools, which the model has
    done with. A turn that held nothing else is no loss.
    """
    for part in turn.parts:
        if isinstance(part, Media):
            raise PartUnsupported(part.kind)
        if isinstance(part, Foreign) and turn.role != "assistant":
            raise PartUnsupported(part.type)
