"""Converse's whole answer to a reply."""

from typing import TypeVar

import msgspec
from msgspec import Raw

from gateway_core import Media, Reply, UpstreamError
from gateway_formats.fold import gather

from ._answer import SERVER_TOOL, AnswerReader, foreign
from ._shapes import (
    BROKEN,
    Answer,
    CitedText,
    ImageBlock,
    ReasoningBlock,
    ToolUse,
    stop_sequence_of,
)

_T = TypeVar("_T")

_answer = msgspec.json.Decoder(Answer).decode


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish."""
    reader = AnswerReader()
    try:
        answer = _answer(body)
        reader.start()
        for at, block in enumerate(answer.output.message.content):
            # Read one block; it has one member that says what it is, and now and then a ``type``.
            if "text" in block:
                reader.text(at, _as(str, block["text"]))
            elif "toolUse" in block:
                call = _as(ToolUse, block["toolUse"])
                # A server's tool runs at the vendor; the client must not answer the call.
                if call.type == SERVER_TOOL:
                    reader.add(foreign(SERVER_TOOL, block))
                else:
                    reader.begin_call(at, call.toolUseId, call.name)
                    reader.grow_call(at, bytes(call.input).decode())
            elif "reasoningContent" in block:
                reasoning = _as(ReasoningBlock, block["reasoningContent"])
                if (thought := reasoning.reasoningText) is not None:
                    reader.think(at, thought.text)
                    if thought.signature:
                        reader.sign(at, thought.signature)
                if reasoning.redactedContent is not None:
                    reader.redact(at, reasoning.redactedContent)
            # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CitationsContentBlock.html
            elif "citationsContent" in block:
                cited = _as(CitedText, block["citationsContent"])
                for piece in cited.content or ():
                    reader.text(at, piece.text)
                for row in cited.citations or ():
                    reader.cite(at, row)
            elif "image" in block:
                image = _as(ImageBlock, block["image"])
                data = image.source.bytes if image.source is not None else None
                reader.add(Media(kind="image", media_type=f"image/{image.format}", data=data))
            else:
                reader.add(foreign(next(iter(block), "nothing"), block))
            reader.end_block(at)
    except BROKEN:
        raise UpstreamError("The upstream gave an answer that could not be read") from None
    reader.finish(answer.stopReason, stop_sequence_of(answer.additionalModelResponseFields))
    reader.count(answer.usage)
    return gather(reader.events)


def _as(shape: type[_T], raw: Raw) -> _T:
    return msgspec.json.decode(raw, type=shape)
