"""What the vendor sends, as typed values: one answer, or one piece of a streamed one."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Usage

from ._members import count

ABSENT = Raw(b"")
_NULL = Raw(b"null")


def is_given(raw: Raw) -> bool:
    """Whether a member is there, and more than null."""
    return raw is not ABSENT and raw != _NULL


class Call(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = ABSENT
    partial_args: list[Raw] | None = None
    """Pieces of arguments that are streamed, each with its place."""
    will_continue: bool | None = None


class Data(Struct, rename="camel"):
    mime_type: str | None = None
    data: str = ""
    display_name: str | None = None


class File(Struct, rename="camel"):
    file_uri: str = ""
    mime_type: str | None = None
    display_name: str | None = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Call | None = None
    inline_data: Data | None = None
    file_data: File | None = None


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


class _Counts(Struct, rename="camel"):
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


class Feedback(Struct, rename="camel"):
    block_reason: str | int | None = None


read_answer = msgspec.json.Decoder(Answer).decode
_read_counts = msgspec.json.Decoder(_Counts).decode
read_part = msgspec.json.Decoder(Part).decode
read_feedback = msgspec.json.Decoder(Feedback).decode

_MOST_CANDIDATES = 128
UNSPECIFIED = (None, 0, "", "FINISH_REASON_UNSPECIFIED")
"""Ways of not saying why an answer ended: it has not."""


def usage_of(metadata: Raw) -> Usage | None:
    """Usage; ``None`` when nothing was counted.

    The vendor counts thinking beside the answer, and the results of its own
    tools beside the prompt.
    """
    if not is_given(metadata):
        return None
    try:
        counts = _read_counts(metadata)
    except msgspec.MsgspecError:
        return None
    thoughts = count(counts.thoughts_token_count)
    usage = Usage(
        input_tokens=count(counts.prompt_token_count) + count(counts.tool_use_prompt_token_count),
        output_tokens=count(counts.candidates_token_count) + thoughts,
        cached_tokens=count(counts.cached_content_token_count),
        reasoning_tokens=thoughts,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def blocked(feedback: Raw) -> bool:
    """Whether the prompt was refused."""
    return is_given(feedback) and read_feedback(feedback).block_reason not in (None, "", 0)


def choice_of(index: int | None, place: int) -> int:
    """A candidate's number; an odd one counts by its place in the list."""
    return index if index is not None and 0 <= index < _MOST_CANDIDATES else place


def unix_seconds(said: str | None) -> int | None:
    if not said:
        return None
    try:
        return int(datetime.fromisoformat(said).timestamp())
    except (ValueError, OverflowError):
        return None
