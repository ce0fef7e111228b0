"""The parts of an answer, encoded for a client of this dialect.

https://ai.google.dev/api/caching#Part
"""

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from gateway_core import AnyPart, Foreign, Losses, Media, Reasoning, ToolCall, Usage

from .._dialect import DIALECT
from .._media import Json, is_base64, write_media
from .._members import compact
from .._signatures import write_signature

_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode
encode = msgspec.json.encode

EMPTY_TEXT = b'{"text":""}'
"""Clients take a content without parts for an invalid turn and forget it."""


def write_text(text: str, signature: bytes = b"") -> bytes:
    return b'{"text":%b%b}' % (encode(text), _write_slot(signature))


def write_thought(text: str) -> bytes:
    return b'{"text":%b,"thought":true}' % encode(text)


def write_call(call: ToolCall, carried: Sequence[Reasoning]) -> bytes:
    """A complete function call, with the thinking that led to it in its signature."""
    signature = write_signature(call.origin, call.signature, carried)
    arguments = call.arguments.strip() or "{}"
    try:
        if call.custom:
            raise msgspec.ValidationError("free text")
        _decode_object(arguments)
        args = compact(arguments.encode())
    except (msgspec.MsgspecError, RecursionError):
        # Arguments have to be an object, whatever the vendor's model wrote.
        args = encode({"input": call.arguments})
    body = b'{"functionCall":{"id":%b,"name":%b,"args":%b}%b}'
    return body % (encode(call.id), encode(call.name), args, _write_slot(signature))


def write_whole(
    part: Media | Foreign, carried: Sequence[Reasoning], losses: Losses
) -> bytes | None:
    """A part that comes in one piece; ``None`` when this dialect cannot say it."""
    written: Json | None = None
    if isinstance(part, Foreign):
        lost = f"part:{part.type}"
        if part.dialect == DIALECT:
            written = {**_decode_object(compact(part.raw))}
    else:
        lost = part.kind
        # The vendor's library gives up a whole answer for one value that is not base64.
        written = write_media(part, "", named=False) if is_base64(part.data or "") else None
    if written is None:
        losses.add(lost)
        return None
    signature = write_signature(part.origin, part.signature, carried)
    return encode({**written, "thoughtSignature": Raw(signature)} if signature else written)


def write_usage(usage: Usage) -> bytes:
    """``usageMetadata``: thinking is counted beside the answer."""
    counts = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }
    if usage.reasoning_tokens:
        counts["thoughtsTokenCount"] = usage.reasoning_tokens
    if usage.cached_tokens:
        counts["cachedContentTokenCount"] = usage.cached_tokens
    return encode(counts)


def write_identity(reply_id: str, model: str) -> bytes:
    """The members that every piece of an answer repeats."""
    return b'"modelVersion":%b,"responseId":%b' % (encode(model), encode(reply_id))


def is_text(part: AnyPart) -> bool:
    """Whether a part grows letter by letter on the wire."""
    return not isinstance(part, ToolCall | Media | Foreign)


def _write_slot(signature: bytes) -> bytes:
    return b',"thoughtSignature":' + signature if signature else b""
