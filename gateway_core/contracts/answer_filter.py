"""An object that looks at answers before their clients get them: an output guardrail."""

from collections.abc import Sequence
from typing import Protocol

from .conversation import Finish, Reply
from .events import StreamEvent
from .provider import Call, Target


class StopAnswer(Exception):
    """Ends an answer properly, with ``text`` in the place of what the client does not have yet. A
    GatewayError ends it with an error instead."""

    def __init__(self, text: str = "", *, finish: Finish = "content_filter") -> None:
        super().__init__("a filter ended the answer")
        self.text = text
        self.finish = finish


class AnswerCheck(Protocol):
    """Looks at one answer. Either method may raise StopAnswer, or a GatewayError."""

    async def reply(self, reply: Reply) -> Reply:
        """Give the whole answer to go on with. Its ``usage`` stays what the vendor reported."""
        ...

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        """Give the events of a stream to go on with: as many, in which only the ``text`` of each
        ``PartGrew`` may differ. They begin with what was held back, as it was given then. The
        pieces of a text are joined, and a tool call is shown once it is whole."""
        ...


class AnswerFilter(Protocol):
    """Looks at answers of chat models. When it fails or takes too long, the answer goes on without
    it if ``required`` is false, and ends with an error 500 if it is true. While the object has an
    ``is_idle`` that is true, it sees no answers: it is read again when settings change."""

    order: int
    """Where it stands: filters are asked from the lowest to the highest."""
    required: bool
    """Whether an answer ends when it fails."""
    timeout: float
    """Seconds that it may take at a time, at most 60."""
    look_ahead: int
    """Characters at the end of a text that are held back while it grows, at most 16384."""

    def open(self, call: Call, target: Target) -> AnswerCheck | None:
        """Begin with an attempt's answer, at once; ``None`` lets it pass as it is."""
        ...
