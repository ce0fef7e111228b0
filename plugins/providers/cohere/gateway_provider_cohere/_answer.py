"""Cohere's answer to events, piece by piece; a stream and a whole answer share every step.

A text stays open after its own end, until something else begins, because its
citations may still come.
"""

import math

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Finish,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UsageReported,
)

from ._citations import citations_of, is_of_text
from ._shapes import CitationRow, Content, TokenRow, ToolCallRow, UsageRow
from ._usage import usage_of

# finish_reason: https://docs.cohere.com/reference/chat
FINISHES: dict[str, Finish] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_TOXIC": "content_filter",
}
FAILURES = {"ERROR": 502, "TIMEOUT": 504, "USER_CANCEL": 502}
"""Reasons that mean there is no answer, with the status that each amounts to."""

_TEXT, _REASONING = Text(text=""), Reasoning()
_PLAN = -1
"""The content index of the plan, which has none."""
_encode = msgspec.json.encode


class AnswerReader:
    """Appends to ``events`` what each piece of an answer amounts to."""

    __slots__ = ("_blocks", "_calls", "_count", "_open", "_started", "events", "is_over")

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []
        self.is_over = False
        self._started = False
        self._count = 0
        self._open: tuple[int, AnyPart] | None = None
        """The text, thinking or plan that is under way: its part's index and its kind."""
        self._blocks: dict[int, int] = {}
        """Cohere's content index to the part's."""
        self._calls: dict[int, tuple[int, bool]] = {}
        """Cohere's call index to the part's, and whether arguments have come."""

    def start(self, id: str) -> None:
        if not self._started:
            self._started = True
            self.events.append(ReplyStarted(id, ""))

    def begin_content(
        self, index: int, content: Content, tokens: list[TokenRow] | None = None
    ) -> None:
        """A part begins with its first words, so that an empty one never does."""
        self.rest()
        self.grow_content(index, content, tokens)

    def grow_content(
        self, index: int, content: Content, tokens: list[TokenRow] | None = None
    ) -> None:
        if content.thinking:
            self._grow(index, _REASONING, content.thinking, None)
        if content.text or tokens:
            self._grow(index, _TEXT, content.text or "", logprobs_of(tokens) if tokens else None)

    def end_content(self) -> None:
        if self._open is not None and self._open[1] is _REASONING:
            self.rest()

    def plan(self, text: str) -> None:
        """What the model means to do with its tools is thinking."""
        if text:
            self._grow(_PLAN, _REASONING, text, None)

    def cite(self, row: CitationRow) -> None:
        # Citations follow the text that they are of: https://docs.cohere.com/docs/streaming
        if self._open is None or self._open[1] is not _TEXT or not is_of_text(row):
            return
        index = self._open[0]
        if row.content_index is None or self._blocks.get(row.content_index) == index:
            self.events += (CitationAdded(index, citation) for citation in citations_of(row))

    def begin_call(self, index: int, row: ToolCallRow) -> None:
        self.rest()
        name = row.function.name if row.function is not None else ""
        self.events.append(PartStarted(self._count, ToolCall(id=row.id or "", name=name)))
        self._calls[index] = (self._count, False)
        self._count += 1
        self.grow_call(index, row)

    def grow_call(self, index: int, row: ToolCallRow) -> None:
        text = (row.function.arguments if row.function is not None else None) or ""
        if not text or index not in self._calls:
            return
        part, has_grown = self._calls[index]
        if text == "null" and not has_grown:
            text = "{}"  # how Cohere spells no arguments, now and then
        self._calls[index] = (part, True)
        self.events.append(PartGrew(part, text))

    def end_call(self, index: int) -> None:
        """Arguments that never came are an empty object."""
        if index not in self._calls:
            return
        part, has_grown = self._calls.pop(index)
        if not has_grown:
            self.events.append(PartGrew(part, "{}"))
        self.events.append(PartEnded(part))

    def finish(self, reason: str | None, usage: UsageRow | None) -> None:
        self.rest()
        for index in list(self._calls):
            self.end_call(index)
        counted = usage_of(usage)
        if counted is not None:
            self.events.append(UsageReported(counted))
        self.events.append(ChoiceEnded(FINISHES.get(reason or "", "stop")))
        self.is_over = True

    def fail(self, failure: ReplyFailed) -> None:
        self.events.append(failure)
        self.is_over = True

    def rest(self) -> None:
        """End the text or the thinking that is under way."""
        if self._open is not None:
            self.events.append(PartEnded(self._open[0]))
            self._open = None

    def _grow(self, index: int, kind: AnyPart, text: str, logprobs: Raw | None) -> None:
        if self._open is None or self._open[1] is not kind:
            self.rest()
            self.events.append(PartStarted(self._count, kind))
            self._open = (self._count, kind)
            self._blocks[index] = self._count
            self._count += 1
        self.events.append(PartGrew(self._open[0], text, 0, logprobs))


def failure_of(reason: str | None, error: str | None, kind: str | None) -> ReplyFailed | None:
    """The failure that an ending amounts to, or ``None`` for an answer that is one."""
    if reason not in FAILURES:
        return None
    message = error or f"The upstream ended its answer with {reason}"
    return ReplyFailed(message, kind=kind, status=FAILURES[reason])


def logprobs_of(rows: list[TokenRow]) -> Raw:
    """In the chat-completions shape, where each piece of text stands as one token."""
    content = [
        {
            "token": row.text,
            # Cohere groups the tokens of a piece of text; the hub's rows have one number each.
            "logprob": math.fsum(row.logprobs),
            "bytes": list(row.text.encode()),
            "top_logprobs": [],
        }
        for row in rows
        if row.text is not None and row.logprobs
    ]
    return Raw(_encode({"content": content}))
