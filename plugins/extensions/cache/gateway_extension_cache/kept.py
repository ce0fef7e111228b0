"""An answer as it is kept, and what makes one worth keeping."""

import msgspec
from msgspec import Struct

from gateway_core import ChoiceEnded, GatewayError, ReplyFailed
from gateway_filters.sources import Question

WHOLE = {"stop", "tool_calls"}
"""How answers end that say all that the model had to say."""


class Kept(Struct, frozen=True):
    """A vendor's answer."""

    body: str
    """As the vendor sent it."""
    at: float
    """When it came, Unix seconds."""
    input_tokens: int = 0
    """What it used."""
    output_tokens: int = 0


def read_kept(text: str) -> Kept | None:
    try:
        return msgspec.json.decode(text, type=Kept)
    except msgspec.DecodeError:
        return None


def finishes_of(question: Question, body: bytes) -> set[str]:
    """How the choices of a vendor's answer end; nothing where the answer is broken."""
    vendor = question.vendor
    try:
        if not question.call.stream:
            return {choice.finish for choice in vendor.read_reply(body).choices}
        reader = vendor.stream_reader()
        events = [*reader.feed(body), *reader.close()]
    except GatewayError:
        return set()
    if any(isinstance(event, ReplyFailed) for event in events):
        return set()
    return {event.finish for event in events if isinstance(event, ChoiceEnded)}
