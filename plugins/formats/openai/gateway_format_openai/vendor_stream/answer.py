"""A vendor's answer, chunk by chunk, as events. A whole answer is one large chunk."""

import hashlib
from typing import Any

from msgspec import Raw

from gateway_core import Citation, ReplyFailed, ReplyStarted, StreamEvent, Usage, UsageReported
from gateway_formats.fold import as_failure
from gateway_formats.relay import CUT_SHORT

from .._chunks import ChoiceChunk, Chunk
from .._members import encode
from .._shared import SHARED
from .._usage import read_usage
from ..errors import read_failure
from .choice import OpenChoice

EMPTY = "The upstream gave an empty answer"

BROKEN = "The upstream broke off its answer"


class VendorAnswer:
    """Keeps the promise of event order, whatever comes in."""

    __slots__ = ("_choices", "_citations", "_id", "_is_whole", "_started", "_usage", "failed")

    def __init__(self, *, is_whole: bool = False) -> None:
        self._is_whole = is_whole
        self._id = ""
        self.failed = False
        self._started = False
        self._choices: dict[int, OpenChoice] = {}
        self._usage: Usage | None = None
        self._citations: tuple[Citation, ...] = ()

    def take(self, chunk: Chunk, data: bytes, out: list[StreamEvent]) -> None:
        if chunk.error is not None or not chunk.choices:
            if self._is_failure(chunk, data, out):
                return
            if not chunk.choices and chunk.usage is None:
                return  # some vendors begin with a chunk about the prompt
        if not self._started:
            self._start(chunk, data, out)
        if chunk.search_results is not None or chunk.citations is not None:
            self._citations = _sources(chunk) or self._citations
        for choice in chunk.choices or ():
            self._take_choice(choice, out)
            if self.failed:
                return
        if chunk.usage is not None or chunk.x_groq is not None:
            self._report(chunk, out)

    def close(self, out: list[StreamEvent], *, marked: bool) -> None:
        """The answer is over; ``marked`` says whether the vendor said so itself."""
        if self.failed:
            return
        if not (self._choices if marked else self.is_ended()):
            self.fail(ReplyFailed(EMPTY if marked else CUT_SHORT), out)
            return
        for choice in self._choices.values():
            choice.end(self._citations, out)

    def is_ended(self) -> bool:
        """Whether every choice has said why it ended."""
        choices = self._choices.values()
        return bool(choices) and all(choice.word is not None for choice in choices)

    def fail(self, failure: ReplyFailed, out: list[StreamEvent]) -> None:
        self.failed = True
        out.append(failure)

    def _is_failure(self, chunk: Chunk, data: bytes, out: list[StreamEvent]) -> bool:
        if chunk.error is None and chunk.usage is not None:
            return False
        error = read_failure(data)
        if error is None:
            return False
        self.fail(as_failure(error), out)
        return True

    def _start(self, chunk: Chunk, data: bytes, out: list[StreamEvent]) -> None:
        self._started = True
        given = chunk.id if isinstance(chunk.id, str) else ""
        self._id = given or _substitute(data)
        model = chunk.model if isinstance(chunk.model, str) else ""
        shared = ((name, getattr(chunk, name)) for name in SHARED)
        extra = {name: Raw(encode(value)) for name, value in shared if value}
        out.append(ReplyStarted(given, model, seconds(chunk.created), extra))

    def _take_choice(self, chunk: ChoiceChunk, out: list[StreamEvent]) -> None:
        index = chunk.index or 0
        choice = self._choices.get(index)
        if choice is None:
            choice = OpenChoice(self._id, index, is_whole=self._is_whole)
            self._choices[index] = choice
        if self._is_whole:
            delta = chunk.message or chunk.delta
        else:  # a few vendors repeat all of the message beside each delta
            delta = chunk.delta or chunk.message
        if delta is not None:
            choice.take(delta, chunk.logprobs, out)
        if chunk.error is not None or chunk.finish_reason == "error":
            self._break(chunk, out)
        elif chunk.finish_reason:
            choice.word, choice.met = chunk.finish_reason, chunk.stop_reason

    def _break(self, chunk: ChoiceChunk, out: list[StreamEvent]) -> None:
        """A choice may carry the vendor's failure in place of an end."""
        error = read_failure(encode({"error": chunk.error})) if chunk.error is not None else None
        self.fail(as_failure(error) if error else ReplyFailed(BROKEN), out)

    def _report(self, chunk: Chunk, out: list[StreamEvent]) -> None:
        usage = read_usage(chunk.usage)
        if usage is None and isinstance(chunk.x_groq, dict):
            usage = read_usage(chunk.x_groq.get("usage"))
        if usage is not None and usage != self._usage:
            self._usage = usage
            out.append(UsageReported(usage))


def _substitute(data: bytes) -> str:
    """What tool calls are named after when the vendor gave its reply no id."""
    return hashlib.sha256(data).hexdigest()[:24]


def seconds(value: object) -> int | None:
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, float):
        value = int(value) if value == value and abs(value) < 1e18 else None
    return value if type(value) is int and value > 0 else None


def _sources(chunk: Chunk) -> tuple[Citation, ...]:
    """A search vendor names its sources once for the whole answer."""
    for items in (chunk.search_results, chunk.citations):
        listed: list[Any] = items if isinstance(items, list) else []
        found = tuple(source for item in listed if (source := _source(item)) is not None)
        if found:
            return found
    return ()


def _source(item: object) -> Citation | None:
    if isinstance(item, str):
        return Citation(url=item)
    if not isinstance(item, dict) or not isinstance(item.get("url"), str):
        return None
    title = item.get("title")
    return Citation(url=item["url"], title=title if isinstance(title, str) and title else None)
