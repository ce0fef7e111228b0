"""Puts answers before the rules, whole and streamed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    StopAnswer,
    StreamEvent,
    Text,
    ToolCall,
)

from .guards import CODE
from .rule_in_force import RuleInForce
from .stage import Blocked, Finding, Stages, Work, stage_of
from .texts import Change, from_list, in_citation, in_json, in_members, in_part, in_reply, texts_of

Place = tuple[int, int]
"""Choice and index of a part."""
T = TypeVar("T")


class Growing:
    """A part of a streamed answer."""

    def __init__(self, stages: Stages, *, is_json: bool) -> None:
        self.stages = stages
        self.is_json = is_json
        """Its text is JSON, and nothing of it has come yet."""
        self.held = 0
        """Characters of what was given on that the gateway has kept, and shows again."""


class Check:
    """The look at one answer."""

    def __init__(self, call: Call, rules: tuple[RuleInForce, ...]) -> None:
        self._rules, self._work = rules, Work(call, "answer")
        self._parts: dict[Place, Growing] = {}

    async def reply(self, reply: Reply) -> Reply:
        try:
            for each in self._rules:
                if each.opinion is None:
                    reply = await self._find(each, partial(in_reply, reply), reply)
                else:
                    await self._ask(each, reply)
        except Blocked as blocked:
            raise BadRequest(blocked.message, code=CODE) from None
        return reply

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        last = {_place(event): at for at, event in enumerate(events) if type(event) is PartGrew}
        ended = {_place(event) for event in events if type(event) is PartEnded}
        given: list[StreamEvent] = []
        try:
            for at, event in enumerate(events):
                if type(event) is PartGrew:
                    place = _place(event)
                    is_tail = at == last[place]
                    ends = is_tail and (is_last or place in ended)
                    text = await self._grow(self._parts[place], event.text, is_last=ends)
                    self._parts[place].held = min(1, len(text)) if is_tail and not ends else 0
                    event = PartGrew(event.index, text, event.choice)
                else:
                    await self._look(event)
                given.append(event)
        except Blocked as blocked:
            # What the client has so far may end in the middle of a word: only the operator's own
            # words are put behind it.
            raise StopAnswer(blocked.own_message) from None
        return given

    async def _grow(self, part: Growing, text: str, *, is_last: bool) -> str:
        held, fresh = text[: part.held], text[part.held :]
        if part.is_json and is_last:
            return await self._whole_json(fresh)
        part.is_json = False  # It is too long to be held back until it is whole.
        return held + await part.stages.feed(fresh, is_last=is_last)

    async def _whole_json(self, text: str) -> str:
        """The arguments of a tool call."""
        for each in self._rules:
            if each.opinion is None:
                text = await self._find(each, partial(in_json, text), text)
            elif _is_for(each, ToolCall(id="", name="")):
                await self._work.ask(each, text)
        return text

    async def _look(self, event: StreamEvent) -> None:
        """Look at what of a stream cannot be changed: with something to redact in it, it ends.

        Raises Blocked.
        """
        looks: list[Callable[[Change], object]] = []
        if isinstance(event, PartStarted):
            place, part = _place(event), event.part
            stages = [stage_of(each, self._work) for each in self._rules if _is_for(each, part)]
            is_json = isinstance(part, ToolCall) and not part.custom
            self._parts[place] = Growing(Stages(stages), is_json=is_json)
            looks.append(partial(in_part, part))
        elif isinstance(event, CitationAdded):
            looks.append(partial(in_citation, event.citation))
        elif extra := getattr(event, "extra", None):
            looks.append(partial(in_members, extra))
        for each in self._rules if looks else ():
            if each.opinion is None and await self._find(each, looks[0], None) is not None:
                raise Blocked(each, self._work.direction)

    async def _find(self, each: RuleInForce, changed: Callable[[Change], T], same: T) -> T:
        """A value with what a rule leaves of its texts; ``same`` if that is all. Raises Blocked."""
        texts = texts_of(changed)
        left = [await Finding(each, self._work).feed(text, is_last=True) for text in texts]
        return same if left == texts else changed(from_list(left))

    async def _ask(self, each: RuleInForce, reply: Reply) -> None:
        """Ask for an opinion of each text of an answer. Raises Blocked."""
        for choice in reply.choices:
            for part in choice.parts:
                if _is_for(each, part):
                    await self._work.ask(each, _text_of(part))


def _is_for(each: RuleInForce, part: AnyPart) -> bool:
    """Whether a rule looks at the text of such a part."""
    if each.rule.kind == "schema":
        return isinstance(part, Text)
    return each.rule.kind != "language" or not isinstance(part, ToolCall)


def _text_of(part: AnyPart) -> str:
    if isinstance(part, Text | Refusal | Reasoning):
        return part.text
    return part.arguments if isinstance(part, ToolCall) else ""


def _place(event: PartStarted | PartGrew | PartEnded) -> Place:
    return event.choice, event.index
