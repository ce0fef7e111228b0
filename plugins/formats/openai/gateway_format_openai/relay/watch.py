"""Passing an answer through to a client that speaks this dialect too."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import ReplyFailed, UpstreamError, Usage
from gateway_formats.fold import as_error, as_failure
from gateway_formats.relay import StreamRelay, Taker

from .._frames import DONE_FRAME, failure_frame
from .._members import encode
from .._usage import usage_in
from ..errors import read_failure
from ..vendor_stream import BROKEN, EMPTY, LONGEST_MARK, is_done


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _CallTexts(Struct, gc=False):
    name: Any = None
    arguments: Any = None
    input: Any = None


class _CallGlance(Struct, gc=False):
    function: _CallTexts | None = None
    custom: _CallTexts | None = None


class _DeltaGlance(Struct, gc=False):
    """The members of a delta that hold something for the reader."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    reasoning_details: Any = None
    tool_calls: list[_CallGlance] | None = None
    function_call: _CallTexts | None = None
    images: Any = None
    audio: Any = None


class _ChoiceGlance(Struct, gc=False):
    index: int | None = 0
    delta: _DeltaGlance | None = None
    message: _DeltaGlance | None = None
    finish_reason: Any = None
    error: Any = None


class _ChunkGlance(Struct, gc=False):
    choices: list[_ChoiceGlance] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None


_NULLS = (b',"usage":null', b', "usage": null')
"""As vendors write it; within a string the quotation marks would be escaped."""

_glance = msgspec.json.Decoder(_ChunkGlance).decode


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
        "stripped",
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
        self.stripped = b""
        """A null that every chunk brings although its client did not ask for usage."""
        self._hides_usage = hides_usage
        self._seen: set[int] = set()
        self._finished: set[int] = set()

    def begin_close(self) -> None:
        """The vendor's bytes have ended: an answer whose choices all have needs no end marker."""
        self.closing = True
        self.ended = self.ended or (bool(self._finished) and self._finished == self._seen)

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
        # Nothing may follow the end marker.
        if self.done:
            return False
        if len(data) < LONGEST_MARK and is_done(data):
            if not self._seen:
                return ReplyFailed(EMPTY)
            self.done = self.ended = True
            return True
        if self._hides_usage and not self._seen:
            self.stripped = next((null for null in _NULLS if null in data), b"")
        chunk = _glance(data)
        choices = chunk.choices or ()
        may_fail = chunk.error is not None or (not choices and chunk.usage is None)
        error = read_failure(data) if may_fail else None
        if error is not None:
            return as_failure(error)
        before = self.characters
        for choice in choices:
            if choice.error is not None:
                return _failure_of(choice.error)
            index = choice.index or 0
            self._seen.add(index)
            delta = choice.delta or choice.message
            if delta is not None:
                length = _length(delta)
                self.characters += length
                if length or delta.images or delta.audio or delta.tool_calls:
                    self.started = True
            if choice.finish_reason:
                self.started = True
                self._finished.add(index)
                if self.closing:
                    self.begin_close()
        # Most chunks add one text; the relay compares the next ones with it, without a look.
        if chunk.usage is None and chunk.x_groq is None:
            added = self.characters - before
            if added and len(choices) == 1:
                choice = choices[0]
                content = choice.delta.content if choice.delta is not None else None
                if isinstance(content, str) and len(content) == added and not choice.finish_reason:
                    return content
            return True
        self.usage = usage_in(chunk.usage, chunk.x_groq) or self.usage
        # The chunk that reports usage has no choices; a client that did not ask for it gets none.
        return bool(choices) or not self._hides_usage

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return failure_frame(failure)


def look_at_whole(body: bytes) -> tuple[Usage | None, int, bool]:
    """Usage and length of a whole answer, and whether a content is an object instead of text.

    Raises UpstreamError for an error in disguise.
    """
    chunk = _glance(body)
    if chunk.error is not None or not chunk.choices:
        error = read_failure(body)
        if error is not None or not chunk.choices:
            raise error or UpstreamError(EMPTY)
    length, has_objects = 0, False
    for choice in chunk.choices:
        if choice.error is not None:
            raise as_error(_failure_of(choice.error))
        message = choice.message or choice.delta
        if message is not None:
            length += _length(message)
            has_objects = has_objects or isinstance(message.content, dict)
    return usage_in(chunk.usage, chunk.x_groq), length, has_objects


def _failure_of(error: object) -> ReplyFailed:
    failure = read_failure(encode({"error": error}))
    return as_failure(failure) if failure else ReplyFailed(BROKEN)


def _length(delta: _DeltaGlance) -> int:
    """Characters of text, thinking and tool arguments."""
    content = delta.content
    length = len(content) if isinstance(content, str) else _text_length(content)
    thinking = delta.reasoning_content or delta.reasoning
    if isinstance(thinking, str):
        length += len(thinking)
    elif delta.reasoning_details:
        length += _text_length(delta.reasoning_details)
    if isinstance(delta.refusal, str):
        length += len(delta.refusal)
    if delta.tool_calls:
        length += sum(
            _call_length(call.function) + _call_length(call.custom) for call in delta.tool_calls
        )
    return length + _call_length(delta.function_call) if delta.function_call else length


def _text_length(value: object) -> int:
    """Characters of the texts in a list of pieces."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(_text_length(item) for item in value)
    if isinstance(value, dict):
        return sum(_text_length(value.get(name)) for name in ("text", "thinking", "summary"))
    return 0


def _call_length(call: _CallTexts | None) -> int:
    if call is None:
        return 0
    return sum(
        len(value) for value in (call.name, call.arguments, call.input) if isinstance(value, str)
    )


class ChatRelay(StreamRelay):
    """Adds the end marker that a few vendors leave out, and takes out what nobody asked for."""

    def __init__(self, watch: ChatWatch) -> None:
        super().__init__(watch)
        self._chat = watch

    @property
    def passing(self) -> Callable[[Taker, Taker], Taker] | None:
        return None if self._chat.stripped else self._passing

    def feed(self, chunk: bytes) -> bytes:
        passed = StreamRelay.feed(self, chunk)
        stripped = self._chat.stripped
        # Typed clients refuse a usage that is null: the API sends it only to those that ask.
        return passed.replace(stripped, b"") if stripped else passed

    def close(self) -> bytes:
        self._chat.begin_close()
        passed = super().close()
        if self._chat.stripped:
            passed = passed.replace(self._chat.stripped, b"")
        if self.failure is None and not self._chat.done:
            self._chat.done = True
            passed += DONE_FRAME
        return passed
