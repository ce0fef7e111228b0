"""A vendor's whole answer of one text, as most are, read in one step."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from gateway_core import Choice, Reply, Text

from ._chunks import read_members
from ._finish import read_finish
from ._members import DIALECT, UNREADABLE, is_null
from ._shared import SHARED
from ._usage import read_usage
from .vendor_stream import seconds

_Nothing = Annotated[list[Raw], Meta(max_length=0)] | None


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Message(Struct, forbid_unknown_fields=True, gc=False):
    content: Annotated[str, Meta(min_length=1)]
    role: str | None = None
    refusal: None = None
    annotations: _Nothing = None
    tool_calls: _Nothing = None
    reasoning_content: None = None
    reasoning: None = None
    function_call: None = None
    audio: None = None


class _Choice(Struct, forbid_unknown_fields=True, gc=False):
    message: _Message
    finish_reason: Annotated[str, Meta(min_length=1)]
    index: Literal[0] = 0
    logprobs: None = None
    stop_reason: None = None


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """An answer that holds nothing but one text, and all of whose members are known."""

    choices: Annotated[list[_Choice], Meta(min_length=1, max_length=1)]
    id: str = ""
    object: str | None = None
    created: int | None = None
    model: str = ""
    usage: dict[str, Any] | None = None
    system_fingerprint: Any = None
    service_tier: Any = None


_plain = msgspec.json.Decoder(_Plain).decode


def read_plain(body: bytes) -> Reply | None:
    """``None`` for an answer that says more, or that makes no sense."""
    try:
        said = _plain(body)
    except UNREADABLE:
        return None
    choice = said.choices[0]
    if choice.finish_reason == "error":
        return None
    part = Text(text=choice.message.content)
    finish = read_finish(choice.finish_reason, has_calls=False, has_only_refusal=False)
    is_shared = said.system_fingerprint is not None or said.service_tier is not None
    return Reply(
        id=said.id,
        model=said.model,
        choices=(Choice(parts=(part,), finish=finish),),
        usage=None if said.usage is None else read_usage(said.usage),
        created=seconds(said.created),
        dialect=DIALECT,
        extra=_shared(body) if is_shared else {},
    )


def _shared(body: bytes) -> Mapping[str, Raw]:
    members = read_members(body).items()
    return {name: raw for name, raw in members if name in SHARED and not is_null(raw)}
