"""What vendors of this dialect send: a chunk of a stream, or a whole answer of the same shape.

Leaves are typed loosely on purpose: a vendor that puts an odd value where it
does not matter must not cost the client an answer.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ._members import encode


class Function(Struct):
    name: Any = None
    arguments: Any = None


class Custom(Struct):
    name: Any = None
    input: Any = None


class CallDelta(Struct):
    index: Any = None
    id: Any = None
    type: Any = None
    function: Function | None = None
    custom: Custom | None = None
    extra_content: Any = None


class Audio(Struct):
    id: Any = None
    data: Any = None
    transcript: Any = None
    expires_at: Any = None


class Delta(Struct):
    """New pieces of a message, or a whole message."""

    content: str | list[Raw] | dict[str, Raw] | None = None
    """An object is the answer itself: Cloudflare's JSON mode does not write it as text."""
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: list[Raw] | None = None
    refusal: Any = None
    tool_calls: list[CallDelta] | None = None
    function_call: Function | None = None
    annotations: list[Raw] | None = None
    images: list[Raw] | None = None
    audio: Audio | None = None
    extra_content: Any = None


class Tokens(Struct, omit_defaults=True):
    """Log probabilities; a few vendors put a number or a list in their place."""

    content: list[Raw] | None = None
    refusal: list[Raw] | None = None


class ChoiceChunk(Struct):
    index: int | None = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    logprobs: Tokens | list[Any] | float | str | None = None
    error: Any = None


class Chunk(Struct):
    id: Any = None
    model: Any = None
    created: Any = None
    choices: list[ChoiceChunk] | None = None
    usage: Any = None
    x_groq: Any = None
    citations: Any = None
    search_results: Any = None
    system_fingerprint: Any = None
    service_tier: Any = None
    error: Any = None


class Whole(Struct):
    """The same answer as nested members, for what has no canonical name."""

    choices: list[dict[str, Raw]] = []


read_chunk = msgspec.json.Decoder(Chunk).decode

read_members = msgspec.json.Decoder(dict[str, Raw]).decode

read_choices = msgspec.json.Decoder(Whole).decode

CHUNK_MEMBERS = frozenset(Chunk.__struct_fields__) | {"object"}

CHOICE_MEMBERS = frozenset(ChoiceChunk.__struct_fields__)

MESSAGE_MEMBERS = frozenset(Delta.__struct_fields__) | {"role"}


def has_only_text(chunk: Chunk) -> bool:
    """Whether a chunk has room for nothing but text, so that it would say the same of another."""
    if chunk.choices is None or len(chunk.choices) != 1:
        return False
    delta = chunk.choices[0].delta
    if delta is None or isinstance(delta.content, list | dict) or delta.reasoning_details:
        return False
    if delta.tool_calls or delta.annotations or delta.images:
        return False
    return delta.function_call is None and delta.audio is None and delta.extra_content is None


def tokens_in(logprobs: object) -> Raw | None:
    """Log probabilities in the shape we carry, or ``None`` when there are none in it."""
    if not isinstance(logprobs, Tokens) or not (logprobs.content or logprobs.refusal):
        return None
    return Raw(encode(logprobs))
