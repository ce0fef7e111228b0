"""What vendors of this dialect send: a chunk of a stream, or a whole answer of the same shape.

Leaves are typed loosely on purpose: a vendor that puts an odd value where it
does not matter must not cost the client an answer.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct


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
    extra_content: Raw | None = None


class Audio(Struct):
    id: Any = None
    data: Any = None
    transcript: Any = None
    expires_at: Any = None


class Delta(Struct):
    """New pieces of a message, or a whole message."""

    content: str | list[Raw] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: list[Raw] | None = None
    refusal: Any = None
    tool_calls: list[CallDelta] | None = None
    function_call: Function | None = None
    annotations: list[Raw] | None = None
    images: list[Raw] | None = None
    audio: Audio | None = None
    extra_content: Raw | None = None


class ChoiceChunk(Struct):
    index: int | None = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    logprobs: Raw | None = None
    error: Raw | None = None


class Groq(Struct):
    usage: Raw | None = None


class Chunk(Struct):
    id: Any = None
    model: Any = None
    created: Any = None
    choices: list[ChoiceChunk] | None = None
    usage: Raw | None = None
    x_groq: Groq | None = None
    citations: Raw | None = None
    search_results: Raw | None = None
    system_fingerprint: Raw | None = None
    service_tier: Raw | None = None
    error: Raw | None = None


class Whole(Struct):
    """The same answer as nested members, for what has no canonical name."""

    choices: list[dict[str, Raw]] = []


read_chunk = msgspec.json.Decoder(Chunk).decode
read_members = msgspec.json.Decoder(dict[str, Raw]).decode
read_choices = msgspec.json.Decoder(Whole).decode

CHUNK_MEMBERS = frozenset(Chunk.__struct_fields__) | {"object"}
CHOICE_MEMBERS = frozenset(ChoiceChunk.__struct_fields__)
MESSAGE_MEMBERS = frozenset(Delta.__struct_fields__) | {"role"}


class _Tokens(Struct):
    content: list[Raw] | None = None
    refusal: list[Raw] | None = None


_tokens = msgspec.json.Decoder(_Tokens)


def tokens_in(raw: Raw | None) -> Raw | None:
    """Log probabilities in the shape we carry, or ``None`` when there are none in it."""
    if raw is None:
        return None
    try:
        tokens = _tokens.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return raw if tokens.content or tokens.refusal else None
