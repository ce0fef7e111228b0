"""Converse's answers and stream events on the wire, read no further than they mean something."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding an answer may raise."""


class TextRow(Struct):
    text: str = ""


class Web(Struct):
    url: str | None = None


class Place(Struct):
    documentIndex: int | None = None


class Location(Struct):
    web: Web | None = None
    documentChar: Place | None = None
    documentPage: Place | None = None
    documentChunk: Place | None = None


class CitationRow(Struct):
    title: str | None = None
    source: str | None = None
    sourceContent: list[TextRow] | None = None
    location: Location | None = None


class CitedText(Struct):
    content: list[TextRow] | None = None
    citations: list[CitationRow] | None = None


class ReasoningText(Struct):
    text: str = ""
    signature: str | None = None


class ReasoningBlock(Struct):
    reasoningText: ReasoningText | None = None
    redactedContent: str | None = None


class ImageSource(Struct):
    bytes: str | None = None


class ImageBlock(Struct):
    format: str = "png"
    source: ImageSource | None = None


class ToolUse(Struct):
    name: str
    toolUseId: str = ""
    input: Raw = Raw(b"{}")
    type: str = ""


class AnswerMessage(Struct):
    content: list[dict[str, Raw]] = []


class Output(Struct):
    message: AnswerMessage


class UsageRow(Struct):
    inputTokens: Any = None
    outputTokens: Any = None
    cacheReadInputTokens: Any = None
    cacheWriteInputTokens: Any = None


class StopDelta(Struct):
    stop_sequence: Any = None


class ModelFields(Struct):
    """Further members of the model's own answer; only the stop sequence is read."""

    stop_sequence: Any = None
    delta: StopDelta | None = None


class Answer(Struct):
    output: Output
    stopReason: str | None = None
    usage: UsageRow | None = None
    additionalModelResponseFields: Any = None


class Start(Struct):
    toolUse: ToolUse | None = None
    toolResult: Any = None
    image: ImageBlock | None = None


class BlockStart(Struct):
    contentBlockIndex: int = 0
    start: Start | None = None


class ReasoningDelta(Struct):
    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None


class ToolUseDelta(Struct):
    input: str = ""


class Delta(Struct):
    text: str | None = None
    toolUse: ToolUseDelta | None = None
    reasoningContent: ReasoningDelta | None = None
    citation: CitationRow | None = None
    image: ImageBlock | None = None
    toolResult: list[Any] | None = None


class BlockDelta(Struct):
    contentBlockIndex: int = 0
    delta: Delta | None = None


class BlockStop(Struct):
    contentBlockIndex: int = 0


class MessageStop(Struct):
    stopReason: str | None = None
    additionalModelResponseFields: Any = None


class Metadata(Struct):
    usage: UsageRow | None = None


class Fault(Struct):
    """An exception in a stream, or the body of a refusal: the key is spelled either way."""

    message: Any = None
    Message: Any = None
    originalStatusCode: Any = None


def stop_sequence_of(fields: Any) -> str | None:
    """The stop sequence that was met, from a model that says which."""
    try:
        parsed = msgspec.convert(fields, ModelFields)
    except msgspec.ValidationError:
        return None
    sequence = parsed.delta.stop_sequence if parsed.delta is not None else parsed.stop_sequence
    return sequence if isinstance(sequence, str) else None
