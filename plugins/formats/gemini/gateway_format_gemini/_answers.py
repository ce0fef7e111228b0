"""What the vendor sends, as typed values: one answer, or one piece of a streamed one.

https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Usage

from ._members import read_count

ABSENT = Raw(b"")
_NULL = Raw(b"null")


def is_given(raw: Raw) -> bool:
    """Whether a member is there, and more than null."""
    return raw is not ABSENT and raw != _NULL


class FunctionCall(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = ABSENT
    partial_args: list[Raw] | None = None
    """Pieces of arguments that are streamed, each with its place."""
    will_continue: bool | None = None


class Blob(Struct, rename="camel"):
    mime_type: str | None = None
    data: str = ""
    display_name: str | None = None


class FileData(Struct, rename="camel"):
    file_uri: str = ""
    mime_type: str | None = None
    display_name: str | None = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None


class Content(Struct):
    parts: list[Raw] | None = None


class Candidate(Struct, rename="camel"):
    content: Content | None = None
    finish_reason: str | int | None = None
    index: int | None = None
    grounding_metadata: Raw = ABSENT
    citation_metadata: Raw = ABSENT
    logprobs_result: Raw = ABSENT
    finish_message: Raw = ABSENT
    safety_ratings: Raw = ABSENT
    avg_logprobs: Raw = ABSENT
    url_context_metadata: Raw = ABSENT
    token_count: Raw = ABSENT


class UsageMetadata(Struct, rename="camel"):
    prompt_token_count: Any = None
    candidates_token_count: Any = None
    thoughts_token_count: Any = None
    cached_content_token_count: Any = None
    tool_use_prompt_token_count: Any = None


class Answer(Struct, rename="camel"):
    candidates: list[Candidate] | None = None
    usage_metadata: Raw = ABSENT
    prompt_feedback: Raw = ABSENT
    model_version: str | None = None
    response_id: str | None = None
    create_time: str | None = None
    error: Raw = ABSENT


class PromptFeedback(Struct, rename="camel"):
    block_reason: str | int | None = None


decode_answer = msgspec.json.Decoder(Answer).decode
_decode_usage = msgspec.json.Decoder(UsageMetadata).decode
decode_part = msgspec.json.Decoder(Part).decode
_decode_feedback = msgspec.json.Decoder(PromptFeedback).decode

_MOST_CANDIDATES = 128
UNSPECIFIED = (None, 0, "", "FINISH_REASON_UNSPECIFIED")
"""Ways of not saying why an answer ended: it has not."""


def read_usage(metadata: Raw) -> Usage | None:
    """``None`` when nothing was counted."""
    if not is_given(metadata):
        return None
    try:
        counts = _decode_usage(metadata)
    except msgspec.MsgspecError:
        return None
    # The vendor counts thinking beside the answer, and the results of its own tools beside the
    # prompt: https://ai.google.dev/api/generate-content#UsageMetadata
    thoughts = read_count(counts.thoughts_token_count)
    tool_results = read_count(counts.tool_use_prompt_token_count)
    usage = Usage(
        input_tokens=read_count(counts.prompt_token_count) + tool_results,
        output_tokens=read_count(counts.candidates_token_count) + thoughts,
        cached_tokens=read_count(counts.cached_content_token_count),
        reasoning_tokens=thoughts,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def is_blocked(feedback: Raw) -> bool:
    """Whether the prompt was refused."""
    return is_given(feedback) and _decode_feedback(feedback).block_reason not in (None, "", 0)


def choice_number(index: int | None, place: int) -> int:
    """A candidate's number; one with an impossible index counts by its place in the list."""
    return index if index is not None and 0 <= index < _MOST_CANDIDATES else place


def read_time(text: str | None) -> int | None:
    """Seconds since 1970."""
    if not text:
        return None
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        return None
