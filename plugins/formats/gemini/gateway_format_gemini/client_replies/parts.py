"""The parts of an answer, as a client of this dialect gets them, ready encoded."""

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from gateway_core import AnyPart, Foreign, Losses, Media, Reasoning, ToolCall, Usage

from .._media import Json, is_base64, media_part
from .._members import compact
from .._signatures import DIALECT, sealed_json

_object = msgspec.json.Decoder(dict[str, Raw])
encode = msgspec.json.encode

EMPTY_TEXT = b'{"text":""}'
"""Clients take a content without parts for an invalid turn and forget it."""


def text_json(text: str, signature: bytes = b"") -> bytes:
    return b'{"text":%b%b}' % (encode(text), _slot(signature))


def thought_json(text: str) -> bytes:
    return b'{"text":%b,"thought":true}' % encode(text)


def call_json(call: ToolCall, carried: Sequence[Reasoning]) -> bytes:
    """A complete function call, with the thinking that led to it in its signature."""
    signature = sealed_json(call.origin, call.signature, carried)
    body = b'{"functionCall":{"id":%b,"name":%b,"args":%b}%b}'
    return body % (encode(call.id), encode(call.name), _arguments(call), _slot(signature))


def whole_json(part: Media | Foreign, carried: Sequence[Reasoning], losses: Losses) -> bytes | None:
    """A part that comes in one piece; ``None`` when this dialect cannot say it.

    The vendor's library gives a whole answer up for one value that is not base64.
    """
    made: Json | None = None
    if isinstance(part, Foreign):
        lost = f"part:{part.type}"
        if part.dialect == DIALECT:
            made = {**_object.decode(compact(part.raw))}
    else:
        lost = part.kind
        made = media_part(part, "", named=False) if is_base64(part.data or "") else None
    if made is None:
        losses.add(lost)
        return None
    signature = sealed_json(part.origin, part.signature, carried)
    return encode({**made, "thoughtSignature": Raw(signature)} if signature else made)


def usage_json(usage: Usage) -> bytes:
    """``usageMetadata``: thinking is counted beside the answer."""
    said = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }
    if usage.reasoning_tokens:
        said["thoughtsTokenCount"] = usage.reasoning_tokens
    if usage.cached_tokens:
        said["cachedContentTokenCount"] = usage.cached_tokens
    return encode(said)


def identity_json(reply_id: str, model: str) -> bytes:
    """The members that every piece of an answer repeats."""
    return b'"modelVersion":%b,"responseId":%b' % (encode(model), encode(reply_id))


def is_text(part: AnyPart) -> bool:
    """Whether a part grows letter by letter on the wire."""
    return not isinstance(part, ToolCall | Media | Foreign)


def _slot(signature: bytes) -> bytes:
    return b',"thoughtSignature":' + signature if signature else b""


def _arguments(call: ToolCall) -> bytes:
    """Arguments have to be an object, whatever the vendor's model wrote."""
    said = call.arguments.strip() or "{}"
    try:
        if not call.custom:
            _object.decode(said)
            return compact(said.encode())
    except (msgspec.MsgspecError, RecursionError):
        pass
    return encode({"input": call.arguments})
