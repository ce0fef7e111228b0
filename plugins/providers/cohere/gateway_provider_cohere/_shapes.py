"""Cohere's answers and stream events on the wire, read no further than they mean something."""

from typing import Any

import msgspec
from msgspec import Struct

BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding JSON from outside may raise."""


class Function(Struct):
    name: str = ""
    arguments: str | None = None


class ToolCallRow(Struct):
    function: Function | None = None
    id: str | None = None


class Source(Struct):
    id: str | None = None
    document: Any = None
    tool_output: Any = None


class CitationRow(Struct):
    start: int | None = None
    end: int | None = None
    sources: list[Source] | None = None
    content_index: int | None = None
    type: str | None = None


class Content(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None


class TokenRow(Struct):
    """A piece of text with the log probability of each of its tokens."""

    text: str | None = None
    logprobs: list[float] | None = None


class Counts(Struct):
    input_tokens: Any = None
    output_tokens: Any = None
    image_tokens: Any = None
    reasoning_tokens: Any = None


class UsageRow(Struct):
    billed_units: Counts | None = None
    tokens: Counts | None = None
    cached_tokens: Any = None


class Message(Struct):
    content: list[Content] | None = None
    tool_plan: str | None = None
    tool_calls: list[ToolCallRow] | None = None
    citations: list[CitationRow] | None = None


class Answer(Struct):
    message: Message
    id: str = ""
    finish_reason: str | None = None
    usage: UsageRow | None = None
    logprobs: list[TokenRow] | None = None
    error: str | None = None
    error_type: str | None = None


class DeltaMessage(Struct):
    """One of its members at a time; a stream's first event has empty lists instead."""

    content: Content | list[Any] | None = None
    tool_plan: str | None = None
    tool_calls: ToolCallRow | list[Any] | None = None
    citations: CitationRow | list[Any] | None = None


class Delta(Struct):
    message: DeltaMessage | None = None
    finish_reason: str | None = None
    usage: UsageRow | None = None
    error: str | None = None
    error_type: str | None = None


class Event(Struct):
    type: str
    index: int = 0
    id: str = ""
    delta: Delta | None = None
    logprobs: TokenRow | None = None


decode_answer = msgspec.json.Decoder(Answer).decode
decode_event = msgspec.json.Decoder(Event).decode
