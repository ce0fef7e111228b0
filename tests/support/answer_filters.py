"""A filter of answers whose conduct a test sets."""

import asyncio
import re
from collections.abc import Sequence
from types import SimpleNamespace

from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    Finish,
    PartGrew,
    Reply,
    StopAnswer,
    StreamEvent,
    Target,
    Text,
    hookimpl,
)


class SettableFilter:
    """Does to every answer what ``mode`` says; an empty one lets them pass unseen."""

    order, required, timeout, look_ahead = 1, False, 0.2, 16

    def __init__(self) -> None:
        self.mode, self.word = "", ""
        self.finish: Finish = "content_filter"
        """``word`` is a pattern for what is hidden, or ends the answer."""
        self.opened: list[tuple[Call, Target]] = []

    def open(self, call: Call, target: Target) -> "SettableFilter | None":
        self.opened.append((call, target))
        if self.mode == "fails to open":
            raise RuntimeError("a bug")
        return self if self.mode else None

    async def reply(self, reply: Reply) -> Reply:
        choices = []
        for choice in reply.choices:
            parts = [await self._part(part) for part in choice.parts]
            choices.append(replace(choice, parts=tuple(parts)))
        return replace(reply, choices=tuple(choices))

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        return [
            replace(event, text=await self._text(event.text)) if type(event) is PartGrew else event
            for event in events
        ]

    async def _part(self, part: AnyPart) -> AnyPart:
        return replace(part, text=await self._text(part.text)) if type(part) is Text else part

    async def _text(self, text: str) -> str:
        if self.mode == "raises":
            raise RuntimeError("a bug")
        if self.mode == "hangs":
            await asyncio.Event().wait()
        if self.mode == "hides":
            return re.sub(self.word, "▇", text)
        if re.search(self.word, text):
            if self.mode == "refuses":
                raise BadRequest("The answer holds what it may not", code="blocked")
            if self.mode == "stops":
                raise StopAnswer("That is not for you.", finish=self.finish)
        return text


def filter_plugin(*filters: SettableFilter) -> object:
    return SimpleNamespace(register_answer_filters=hookimpl(lambda: list(filters)))
