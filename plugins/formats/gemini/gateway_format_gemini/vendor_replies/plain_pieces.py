"""A piece of the vendor's stream that brings more of one text, as most do, read in one step."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from gateway_core import Usage

from .._members import BIGGEST

_Count = Annotated[int, Meta(ge=0, le=BIGGEST)] | None


# What JSON holds is never a circle, so the collector of circles need not follow these.
class Counts(Struct, rename="camel", gc=False):
    """The vendor's counts, all of which make sense."""

    prompt_token_count: _Count = None
    candidates_token_count: _Count = None
    thoughts_token_count: _Count = None
    cached_content_token_count: _Count = None
    tool_use_prompt_token_count: _Count = None

    def usage(self) -> Usage | None:
        """The same as :func:`usage_of`."""
        thoughts = self.thoughts_token_count or 0
        asked = (self.prompt_token_count or 0) + (self.tool_use_prompt_token_count or 0)
        told = (self.candidates_token_count or 0) + thoughts
        if not asked and not told:
            return None
        return Usage(
            input_tokens=asked,
            output_tokens=told,
            cached_tokens=self.cached_content_token_count or 0,
            reasoning_tokens=thoughts,
        )


class Grown(Struct, rename="camel", gc=False):
    """A part with text in it. Nothing else that a part may be is there."""

    text: Annotated[str, Meta(min_length=1)]
    thought: bool | None = None
    thought_signature: None = None
    function_call: None = None
    inline_data: None = None
    file_data: None = None


class _Content(Struct, gc=False):
    parts: Annotated[list[Grown], Meta(min_length=1, max_length=1)]


class _Candidate(Struct, rename="camel", gc=False):
    """A candidate that goes on; what else it may hold counts only when it ends."""

    content: _Content
    index: Literal[0] | None = None
    finish_reason: None = None
    grounding_metadata: None = None
    citation_metadata: None = None
    logprobs_result: None = None


class Piece(Struct, rename="camel", gc=False):
    """A piece of one candidate; what else it may hold counts only in the first one."""

    candidates: Annotated[list[_Candidate], Meta(min_length=1, max_length=1)]
    usage_metadata: Counts | None = None
    prompt_feedback: None = None
    error: None = None
    model_version: str | None = None
    response_id: str | None = None
    create_time: str | None = None

    def grown(self) -> Grown:
        return self.candidates[0].content.parts[0]


_piece = msgspec.json.Decoder(Piece).decode


def read_piece(payload: bytes) -> Piece | None:
    """``None`` for a piece that says more, or that makes no sense."""
    try:
        return _piece(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
