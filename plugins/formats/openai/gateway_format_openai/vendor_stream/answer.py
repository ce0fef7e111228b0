"""A vendor's answer, chunk by chunk, as events. A whole answer is one large chunk."""

import hashlib

from msgspec import Raw

from gateway_core import Citation, ReplyFailed, ReplyStarted, StreamEvent, Usage, UsageReported
from gateway_formats.fold import as_failure
from gateway_formats.relay import CUT_SHORT

from .._chunks import Chunk
from .._members import encode
from .._shared import SHARED
from .._usage import usage_in
from ..errors import read_failure
from .choice import OpenChoice

EMPTY = "The upstream gave an empty answer"

BROKEN = "The upstream broke off its answer"


class VendorAnswer:
    """Gives events in the order that the canonical model promises, whatever comes in."""

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
            may_fail = chunk.error is not None or chunk.usage is None
            error = read_failure(data) if may_fail else None
            if error is not None:
                self.fail(as_failure(error), out)
                return
            if not chunk.choices and chunk.usage is None:
                return  # Azure begins with a chunk about the prompt, which has no choices
        if not self._started:
            self._started = True
            reply_id = chunk.id if isinstance(chunk.id, str) else ""
            # Calls without an id are named after their reply, a reply without one after its bytes:
            # the names are the same however the stream is cut.
            self._id = reply_id or hashlib.sha256(data).hexdigest()[:24]
            model = chunk.model if isinstance(chunk.model, str) else ""
            shared = ((name, getattr(chunk, name)) for name in SHARED)
            extra = {name: Raw(encode(value)) for name, value in shared if value}
            created: object = chunk.created
            if isinstance(created, str) and created.isdigit():
                created = int(created)
            if isinstance(created, float):  # NaN, infinity and other impossible times are left out
                created = int(created) if created == created and abs(created) < 1e18 else None
            seconds = created if type(created) is int and created > 0 else None
            out.append(ReplyStarted(reply_id, model, seconds, extra))
        if chunk.search_results is not None or chunk.citations is not None:
            self._citations = _read_sources(chunk) or self._citations
        for piece in chunk.choices or ():
            index = piece.index or 0
            choice = self._choices.get(index)
            if choice is None:
                choice = OpenChoice(self._id, index, is_whole=self._is_whole)
                self._choices[index] = choice
            if self._is_whole:
                delta = piece.message or piece.delta
            else:  # a few vendors repeat all of the message beside each delta
                delta = piece.delta or piece.message
            if delta is not None:
                choice.take(delta, piece.logprobs, out)
            if piece.error is not None or piece.finish_reason == "error":
                # OpenRouter reports a failure in the middle of a stream in the choice:
                # https://openrouter.ai/docs/api-reference/errors
                has_error = piece.error is not None
                error = read_failure(encode({"error": piece.error})) if has_error else None
                self.fail(as_failure(error) if error else ReplyFailed(BROKEN), out)
                return
            if piece.finish_reason:
                choice.finish_reason, choice.stop_reason = piece.finish_reason, piece.stop_reason
        if chunk.usage is not None or chunk.x_groq is not None:
            usage = usage_in(chunk.usage, chunk.x_groq)
            if usage is not None and usage != self._usage:
                self._usage = usage
                out.append(UsageReported(usage))

    def close(self, out: list[StreamEvent], *, marked: bool) -> None:
        """The answer is over; ``marked`` says whether the vendor marked the end itself."""
        if self.failed:
            return
        if not (self._choices if marked else self.is_ended()):
            self.fail(ReplyFailed(EMPTY if marked else CUT_SHORT), out)
            return
        for choice in self._choices.values():
            choice.end(self._citations, out)

    def is_ended(self) -> bool:
        """Whether every choice has a finish reason."""
        choices = self._choices.values()
        return bool(choices) and all(choice.finish_reason is not None for choice in choices)

    def fail(self, failure: ReplyFailed, out: list[StreamEvent]) -> None:
        self.failed = True
        out.append(failure)


def _read_sources(chunk: Chunk) -> tuple[Citation, ...]:
    # A search vendor names its sources once for the whole answer, as addresses or objects:
    # https://docs.perplexity.ai/api-reference/chat-completions-post
    for items in (chunk.search_results, chunk.citations):
        sources: list[Citation] = []
        for item in items if isinstance(items, list) else ():
            source = {"url": item} if isinstance(item, str) else item
            if isinstance(source, dict) and isinstance(source.get("url"), str):
                title = source.get("title")
                has_title = isinstance(title, str) and bool(title)
                sources.append(Citation(url=source["url"], title=title if has_title else None))
        if sources:
            return tuple(sources)
    return ()
