"""The vendor's whole answer of one text, as most are, read in one step."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from gateway_core import Choice, Reply, Text

from .._answers import ABSENT, UNSPECIFIED, unix_seconds, usage_of
from .._finish_reasons import read_finish
from .._signatures import DIALECT


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Part(Struct, forbid_unknown_fields=True, gc=False):
    text: Annotated[str, Meta(min_length=1)]


class _Content(Struct, gc=False):
    parts: Annotated[list[_Part], Meta(min_length=1, max_length=1)]


class _Candidate(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    content: _Content
    finish_reason: str
    index: Literal[0] | None = None


class _Plain(Struct, rename="camel", gc=False):
    """An answer of one candidate of which nothing but its text and its end is told."""

    candidates: Annotated[list[_Candidate], Meta(min_length=1, max_length=1)]
    response_id: Annotated[str, Meta(min_length=1)]
    usage_metadata: Raw = ABSENT
    prompt_feedback: None = None
    model_version: str | None = None
    create_time: str | None = None
    error: None = None


_plain = msgspec.json.Decoder(_Plain).decode


def read_plain(body: bytes) -> Reply | None:
    """``None`` for an answer that says more, or that makes no sense."""
    try:
        said = _plain(body)
        usage = usage_of(said.usage_metadata)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    candidate = said.candidates[0]
    reason = candidate.finish_reason
    if reason in UNSPECIFIED:
        return None
    choice = Choice(
        parts=(Text(text=candidate.content.parts[0].text),),
        finish=read_finish(reason, called=False),
        extra={"finishReason": Raw(msgspec.json.encode(reason))},
    )
    return Reply(
        id=said.response_id,
        model=said.model_version or "",
        choices=(choice,),
        usage=usage,
        created=unix_seconds(said.create_time),
        dialect=DIALECT,
    )
