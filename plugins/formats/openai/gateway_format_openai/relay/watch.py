"""Passing an answer through to a client that speaks this dialect too."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import ReplyFailed, UpstreamError, Usage
from gateway_formats.fold import as_error, as_failure
from gateway_formats.relay import StreamRelay

from .._frames import DONE_FRAME, failure_frame
from .._members import encode
from .._usage import read_usage
from ..errors import read_failure
from ..vendor_stream import BROKEN, EMPTY, LONGEST_MARK, is_done


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Name(Struct, gc=False):
    name: Any = None
    arguments: Any = None
    input: Any = None


class _Call(Struct, gc=False):
    function: _Name | None = None
    custom: _Name | None = None


class _Said(Struct, gc=False):
    """The members of a delta that hold something for the reader."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    reasoning_details: Any = None
    tool_calls: list[_Call] | None = None
    function_call: _Name | None = None
    images: Any = None
    audio: Any = None


class _Choice(Struct, gc=False):
    index: int | None = 0
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: Any = None
    error: Any = None


class _Glance(Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None


_glance = msgspec.json.Decoder(_Glance).decode


class ChatWatch:
    """Looks at each chunk just closely enough."""

    __slots__ = (
        "_finished",
        "_hides_usage",
        "_seen",
        "characters",
        "closing",
        "done",
        "ended",
        "started",
        "usage",
    )

    def __init__(self, hides_usage: bool) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.characters = 0
        self.ended = False
        self.done = False
        """Whether the end marker has passed."""
        self.closing = False
        self._hides_usage = hides_usage
        self._seen: set[int] = set()
        self._finished: set[int] = set()

    def begin_close(self) -> None:
        """The vendor's bytes have ended: an answer whose choices all have needs no end marker."""
        self.closing = True
        self.ended = self.ended or (bool(self._finished) and self._finished == self._seen)

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
        if self.done:
            return False
        if len(data) < LONGEST_MARK and is_done(data):
            if not self._seen:
                return ReplyFailed(EMPTY)
            self.done = self.ended = True
            return True
        chunk = _glance(data)
        choices = chunk.choices or ()
        if chunk.error is not None or not choices:
            failure = self._failure(chunk, data)
            if failure is not None:
                return failure
        before = self.characters
        for choice in choices:
            if choice.error is not None:
                return _broken(choice.error)
            self._note(choice)
        if chunk.usage is None and chunk.x_groq is None:
            return _only_text(choices, self.characters - before) or True
        self._count(chunk)
        return bool(choices) or not self._hides_usage

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return failure_frame(failure)

    def _failure(self, chunk: _Glance, data: bytes) -> ReplyFailed | None:
        if chunk.error is None and chunk.usage is not None:
            return None
        error = read_failure(data)
        return None if error is None else as_failure(error)

    def _note(self, choice: _Choice) -> None:
        index = choice.index or 0
        self._seen.add(index)
        said = choice.delta or choice.message
        if said is not None:
            length = _length(said)
            self.characters += length
            if length or said.images or said.audio or said.tool_calls:
                self.started = True
        if choice.finish_reason:
            self.started = True
            self._finished.add(index)
            if self.closing:
                self.begin_close()

    def _count(self, chunk: _Glance) -> None:
        self.usage = _usage(chunk) or self.usage


def _only_text(choices: Sequence[_Choice], length: int) -> str:
    """The text of a chunk with nothing else in it that counts, which is most of them."""
    if length and len(choices) == 1:
        choice = choices[0]
        content = choice.delta.content if choice.delta is not None else None
        if isinstance(content, str) and len(content) == length and not choice.finish_reason:
            return content
    return ""


def _usage(chunk: _Glance) -> Usage | None:
    usage = read_usage(chunk.usage)
    if usage is None and isinstance(chunk.x_groq, dict):
        usage = read_usage(chunk.x_groq.get("usage"))
    return usage


def read_whole(body: bytes) -> tuple[Usage | None, int]:
    """Usage and length of a whole answer. Raises UpstreamError for an error in disguise."""
    chunk = _glance(body)
    if chunk.error is not None or not chunk.choices:
        error = read_failure(body)
        if error is not None or not chunk.choices:
            raise error or UpstreamError(EMPTY)
    length = 0
    for choice in chunk.choices:
        if choice.error is not None:
            raise as_error(_broken(choice.error))
        said = choice.message or choice.delta
        if said is not None:
            length += _length(said)
    return _usage(chunk), length


def _broken(error: object) -> ReplyFailed:
    found = read_failure(encode({"error": error}))
    return as_failure(found) if found else ReplyFailed(BROKEN)


def _length(said: _Said) -> int:
    """Characters of text, thinking and tool arguments."""
    content = said.content
    length = len(content) if isinstance(content, str) else _deep(content)
    thinking = said.reasoning_content or said.reasoning
    if isinstance(thinking, str):
        length += len(thinking)
    elif said.reasoning_details:
        length += _deep(said.reasoning_details)
    if isinstance(said.refusal, str):
        length += len(said.refusal)
    if said.tool_calls:
        length += sum(_named(call.function) + _named(call.custom) for call in said.tool_calls)
    return length + _named(said.function_call) if said.function_call else length


def _deep(value: object) -> int:
    """Of the texts in a list of pieces."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(_deep(item) for item in value)
    if isinstance(value, dict):
        return sum(_deep(value.get(name)) for name in ("text", "thinking", "summary"))
    return 0


def _named(call: _Name | None) -> int:
    if call is None:
        return 0
    return sum(
        len(value) for value in (call.name, call.arguments, call.input) if isinstance(value, str)
    )


class ChatRelay(StreamRelay):
    """Adds the end marker that a few vendors leave out."""

    def __init__(self, watch: ChatWatch) -> None:
        super().__init__(watch)
        self._chat = watch

    def close(self) -> bytes:
        self._chat.begin_close()
        passed = super().close()
        if self.failure is None and not self._chat.done:
            self._chat.done = True
            passed += DONE_FRAME
        return passed
