"""What the client's side of an exchange may see of a vendor's answer."""

from operator import is_

from msgspec.structs import replace

from ..contracts.conversation import (
    NOTHING,
    AnyPart,
    Choice,
    Extra,
    Reasoning,
    Reply,
    ToolCall,
)
from ..contracts.events import (
    ChoiceEnded,
    PartSealed,
    PartStarted,
    ReplyStarted,
    StreamEvent,
)
from .call_arguments import has_none


class ReplySanitizer:
    """What the client's side may see of a vendor's answer.

    Signatures get the name of the provider that can read them. Members that
    only the vendor's dialect knows stay behind, unless it is the client's
    dialect too. They are no losses: a client misses nothing that its format
    has no member for.
    """

    def __init__(self, origin: str, *, keeps_extra: bool) -> None:
        self._origin = origin
        self._keeps_extra = keeps_extra

    def event(self, event: StreamEvent) -> StreamEvent:
        if isinstance(event, PartStarted):
            part = self.part(event.part)
            return event if part is event.part else replace(event, part=part)
        if isinstance(event, PartSealed):
            return replace(event, origin=self._origin)
        if isinstance(event, ReplyStarted | ChoiceEnded) and event.extra:
            return replace(event, extra=self._extra(event.extra))
        return event

    def reply(self, reply: Reply) -> Reply:
        if is_plain(reply):
            return reply
        choices = tuple(map(self._choice, reply.choices))
        extra = self._extra(reply.extra) if reply.extra else NOTHING
        if extra == reply.extra and all(map(is_, choices, reply.choices)):
            return reply
        return replace(reply, choices=choices, extra=extra)

    def _choice(self, choice: Choice) -> Choice:
        parts = tuple(map(self.whole_part, choice.parts))
        extra = self._extra(choice.extra) if choice.extra else NOTHING
        if extra == choice.extra and all(map(is_, parts, choice.parts)):
            return choice
        return replace(choice, parts=parts, extra=extra)

    def whole_part(self, part: AnyPart) -> AnyPart:
        if isinstance(part, ToolCall) and not part.custom and has_none(part.arguments):
            part = replace(part, arguments="{}")
        return self.part(part)

    def part(self, part: AnyPart) -> AnyPart:
        sealed = part.sealed if isinstance(part, Reasoning) else None
        # A signature is worth something only to the vendor that made it.
        if part.signature is not None or sealed is not None:
            part = replace(part, origin=self._origin)
        if part.extra and not self._keeps_extra:
            part = replace(part, extra=self._extra(part.extra))
        return part

    def _extra(self, extra: Extra) -> Extra:
        return extra if self._keeps_extra else NOTHING


def is_plain(reply: Reply) -> bool:
    """Whether nothing in a reply is for its vendor's clients alone."""
    if reply.extra:
        return False
    for choice in reply.choices:
        if choice.extra:
            return False
        for part in choice.parts:
            if part.signature is not None or part.extra or type(part) is Reasoning:
                return False
            if type(part) is ToolCall and has_none(part.arguments):
                return False
    return True
