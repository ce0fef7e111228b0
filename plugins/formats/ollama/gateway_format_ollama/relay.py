"""Watching an answer of this dialect on its way from the server to a client."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Call, Relay, ReplyFailed, Usage
from gateway_formats.fold import as_error
from gateway_formats.ndjson import escape_line_separators, split_lines
from gateway_formats.relay import StreamRelay, WholeRelay

from ._lines import failure_of, usage_of
from .errors import error_line


class _Message(Struct):
    role: str
    content: str | None = None
    thinking: str | None = None
    tool_calls: Sequence[Raw] | None = None
    images: Sequence[Raw] | None = None


class Passing(Struct):
    """As much of a line as the gateway has to know; a client's library insists on the role."""

    message: _Message | None = None
    done: bool | None = None
    error: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    status_code: Any = None


decode_passing = msgspec.json.Decoder(Passing).decode


def relay_reply(call: Call) -> Relay:
    return LineRelay() if call.stream else WholeRelay(_read_whole)


class LineRelay(StreamRelay):
    """Passes lines on, kept from being split in two by a client's reader, and no blank ones."""

    def __init__(self) -> None:
        super().__init__(Watch(), lines_only=True)

    def feed(self, chunk: bytes) -> bytes:
        return _tidy(super().feed(chunk))

    def close(self) -> bytes:
        return _tidy(super().close())


def _tidy(passed: bytes) -> bytes:
    # Lines that are clean already are passed on as they came.
    if b"\n\n" in passed or b"\r" in passed or passed.startswith(b"\n"):
        passed = b"".join(line + b"\n" for line in split_lines(passed))
    return escape_line_separators(passed)


class Watch:
    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        if self.ended:
            return False
        line = decode_passing(data)
        if line.error is not None:
            return failure_of(line.error, line.status_code)
        # Any answer of the chat endpoint has a message, be it empty.
        if line.message is None:
            raise msgspec.ValidationError("a line without a message")
        length = _length(line.message)
        if length:
            self.started = True
            self.characters += length
        if line.done:
            # An answer may be empty: so is the one to a request that only loads the model.
            self.started = self.ended = True
            self.usage = usage_of(line.prompt_eval_count, line.eval_count)
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return error_line(failure.message)


def _read_whole(body: bytes) -> tuple[Usage | None, int]:
    answer = decode_passing(body)
    if answer.error is not None:
        raise as_error(failure_of(answer.error, answer.status_code))
    if answer.message is None:
        raise msgspec.ValidationError("an answer without a message")
    usage = usage_of(answer.prompt_eval_count, answer.eval_count)
    return usage, _length(answer.message)


def _length(message: _Message) -> int:
    """Characters of words and thinking, and bytes of calls and images."""
    length = len(message.content) if message.content else 0
    if message.thinking:
        length += len(message.thinking)
    if message.tool_calls or message.images:
        rows = (*(message.tool_calls or ()), *(message.images or ()))
        length += sum(len(memoryview(row)) for row in rows)
    return length
