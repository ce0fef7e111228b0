"""What a well-formed stream of this format looks like."""

from gateway_core import Grammar
from gateway_formats.sse import parse_frame, split_frames

from ._wire_types import UNREADABLE, read_event, type_of


def list_types(stream: bytes) -> list[str]:
    """The type of each event; an event of a later version of the format has none."""
    types = []
    for block in split_frames(stream):
        _, data = parse_frame(block)
        try:
            if read_event(data) is not None:
                types.append(type_of(data))
        except UNREADABLE:
            types.append("rubbish")
    return types


GRAMMAR = Grammar(words=list_types, pattern=r"(start (text |thought |call )*)?(end |error )")
