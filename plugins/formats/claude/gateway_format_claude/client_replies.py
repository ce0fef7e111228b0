"""Whole answers, both ways."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    Choice,
    Conversation,
    Foreign,
    Losses,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    UpstreamError,
    seal_id,
)
from gateway_formats.fold import default_finish

from ._citations import shown_citation
from ._dialect import DIALECT, NULL, Extra, Unreadable, encode, members_of, present
from ._dialect import Block as Written
from ._stop_reasons import NOTHING, read_finish, written_finish
from ._thinking_proofs import data_slot, signature_slot
from ._tool_calls import as_object
from ._usage import Counts, usage_of, written_usage
from ._vendor_blocks import LATE, Block, late_members, read_block, refusal_in, spoken
from .errors import UNREADABLE, error_in

_READ = (
    "id",
    "type",
    "role",
    "model",
    "content",
    "stop_reason",
    "stop_sequence",
    "usage",
    *LATE,
)


# What JSON holds is never a circle, so the collector of circles need not follow these.
class _Message(Struct, gc=False):
    content: list[Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Counts | None = None


class _Usual(_Message, forbid_unknown_fields=True, gc=False):
    """A message of which every member is known, and which has nothing to say late."""

    type: Raw = NULL
    role: Raw = NULL
    container: None = None
    context_management: None = None
    input_transformations: None = None
    stop_details: None = None


class _Blocks(Struct):
    """The content of a message as it came."""

    content: list[Raw]


_usual = msgspec.json.Decoder(_Usual).decode
_message = msgspec.json.Decoder(_Message).decode
_blocks_of = msgspec.json.Decoder(_Blocks).decode


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    try:
        return _reply(body)
    except Unreadable:
        raise error_in(body) or UpstreamError(UNREADABLE) from None


def _reply(body: bytes) -> Reply:
    message: _Message
    try:
        message, late, rest = _usual(body), NOTHING, NOTHING
    except msgspec.ValidationError:
        message, late, rest = _with_more(body)
    parts = _parts(message, body)
    return Reply(
        id=message.id or "",
        model=message.model or "",
        choices=(_choice(message, parts, late),),
        usage=None if message.usage is None else usage_of(message.usage),
        dialect=DIALECT,
        extra=rest,
    )


def _parts(message: _Message, body: bytes) -> tuple[AnyPart, ...]:
    """What the blocks say; those that are more than words are read as they came."""
    blocks = message.content
    if len(blocks) == 1 and blocks[0].type == "text" and not blocks[0].citations:
        return (Text(text=blocks[0].text or ""),)  # as most answers are
    parts: list[AnyPart] = []
    for block in blocks:
        part = spoken(block)
        if part is None:
            return tuple(read_block(item)[1] for item in _blocks_of(body).content)
        parts.append(part)
    return tuple(parts)


def _with_more(body: bytes) -> tuple[_Message, Extra, Extra]:
    """A message, its late members, and those that are not known."""
    message, members = _message(body), members_of(body)
    rest = {name: value for name, value in members.items() if name not in _READ}
    return message, late_members(members), present(rest)


def _choice(message: _Message, parts: tuple[AnyPart, ...], late: Extra) -> Choice:
    reason, met = message.stop_reason, message.stop_sequence
    if reason is None:
        finish, more = default_finish(parts), NOTHING
    else:
        finish, more = read_finish(reason, has_calls=_has_calls(parts))
    if not late:
        return Choice(parts=parts, finish=finish, stop_sequence=met, extra=more)
    refusal = refusal_in(late)
    parts = parts if refusal is None else (*parts, refusal)
    return Choice(parts=parts, finish=finish, stop_sequence=met, extra={**late, **more})


def _has_calls(parts: tuple[AnyPart, ...]) -> bool:
    if len(parts) == 1:
        return type(parts[0]) is ToolCall
    return ToolCall in map(type, parts)


def write_reply(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    """An answer of any vendor as this dialect's message."""
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    own = own_members(choice.extra, losses)
    blocks = _blocks(choice.parts, reply.id, losses)
    body: dict[str, object] = {
        "id": message_id(reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model or asked.model,
        "content": blocks,
        "stop_reason": written_finish(
            choice.finish,
            met_stop=choice.stop_sequence is not None,
            parts=choice.parts,
            own=own.pop("stop_reason", None),
        ),
        "stop_sequence": choice.stop_sequence,
        "usage": written_usage(reply.usage),
    }
    if choice.logprobs is not None:
        losses.add("logprobs")
    if choice.finish == "error":
        losses.add("finish")
    if reply.dialect != DIALECT:
        losses.add_extra(reply.extra)
        return encode({**own, **body})
    return encode({**reply.extra, **own, **body})


def message_id(reply_id: str) -> str:
    return reply_id if reply_id.startswith("msg_") else f"msg_{reply_id}"


def call_id(call: ToolCall, reply_id: str, position: int) -> str:
    """The id a client sends back with the result, with the call's own signature in it."""
    plain = call.id or f"toolu_{reply_id}_{position}"
    return seal_id(plain, call.origin, call.signature, ())


def call_members(call: ToolCall, losses: Losses) -> Extra:
    """This dialect's own members of a call; those of others are lost."""
    losses.add_extra({k: v for k, v in call.extra.items() if k not in _CALL_MEMBERS})
    return {k: v for k, v in call.extra.items() if k in _CALL_MEMBERS}


def own_members(extra: Extra, losses: Losses) -> dict[str, Raw]:
    """The late members of this dialect; others of the same name and other names are lost."""
    own = {name: value for name, value in extra.items() if _is_own(name, value)}
    losses.add_extra({name: value for name, value in extra.items() if name not in own})
    return own


def _is_own(name: str, value: Raw) -> bool:
    mark = _MARKS.get(name)
    return mark is not None and mark in bytes(value)


_MARKS = {
    "container": b'"expires_at"',
    "context_management": b'"applied_edits"',
    "input_transformations": b"[",
    "stop_details": b'"refusal"',
    "stop_reason": b'"',
}
"""Late members and a sign that they are this dialect's: others have members of the same names."""


_CALL_MEMBERS = ("caller", "toolset_name")


def _blocks(parts: tuple[AnyPart, ...], reply_id: str, losses: Losses) -> list[Written]:
    written = (_written(part, reply_id, index, losses) for index, part in enumerate(parts))
    return [block for block in written if block is not None]


def _written(part: AnyPart, reply_id: str, position: int, losses: Losses) -> Written | None:
    match part:
        case Text():
            return _text(part, losses)
        case ToolCall():
            return _tool_use(part, call_id(part, reply_id, position), losses)
        case Reasoning():
            return _thinking(part)
        case Refusal():
            known = "stop_details" in part.extra
            return None if known or not part.text else {"type": "text", "text": part.text}
        case Foreign() if part.dialect == DIALECT:
            return part.raw
    losses.add(lost_part(part))
    return None


def lost_part(part: AnyPart) -> str:
    """The name under which a part that cannot be shown is recorded."""
    if isinstance(part, Foreign):
        return f"part:{part.type}"
    return str(getattr(part, "kind", "tool_result"))


def _text(part: Text, losses: Losses) -> dict[str, object] | None:
    if part.signature is not None:
        losses.add("reasoning_signature")
    if not part.text:
        return None
    block: dict[str, object] = {"type": "text", "text": part.text}
    citations = [c for said in part.citations if (c := shown_citation(said, losses)) is not None]
    if citations:
        block["citations"] = citations
    return block


def _tool_use(part: ToolCall, its_id: str, losses: Losses) -> dict[str, object]:
    return {
        **call_members(part, losses),
        "type": "tool_use",
        "id": its_id,
        "name": part.name,
        "input": as_object(part, losses),
    }


def _thinking(part: Reasoning) -> dict[str, object] | None:
    if part.sealed is not None and not part.text and part.signature is None:
        return {"type": "redacted_thinking", "data": data_slot(part)}
    signature = signature_slot(part)
    if not part.text and not signature:
        return None
    return {"type": "thinking", "thinking": part.text, "signature": signature}
