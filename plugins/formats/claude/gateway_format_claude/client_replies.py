"""Writes a reply of any vendor as this format's message.

https://docs.anthropic.com/en/api/messages
"""

from msgspec import Raw

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
    seal_id,
)

from ._citations import write_citation_for_client
from ._dialect import DIALECT, Extra, OutputBlock, encode
from ._stop_reasons import write_stop_reason
from ._thinking_proofs import write_data, write_signature
from ._tool_calls import write_input
from ._usage import write_usage

_CALL_MEMBERS = ("caller", "toolset_name")
_MARKS = {
    "container": b'"expires_at"',
    "context_management": b'"applied_edits"',
    "input_transformations": b"[",
    "stop_details": b'"refusal"',
    "stop_reason": b'"',
}
"""Late members and a sign that they are this dialect's: others have members of the same names."""


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    own = keep_own_members(choice.extra, losses)
    blocks: list[OutputBlock] = []
    for index, part in enumerate(choice.parts):
        block = _write_part(part, reply.id, index, losses)
        if block is not None:
            blocks.append(block)
    body: dict[str, object] = {
        "id": make_message_id(reply.id),
        "type": "message",
        "role": "assistant",
        # Agents drop their thinking from an answer of another model than the one that they asked,
        # and the vendor then refuses their next call.
        "model": request.model or reply.model,
        "content": blocks,
        "stop_reason": write_stop_reason(
            choice.finish,
            met_stop=choice.stop_sequence is not None,
            parts=choice.parts,
            own=own.pop("stop_reason", None),
        ),
        "stop_sequence": choice.stop_sequence,
        "usage": write_usage(reply.usage),
    }
    if choice.logprobs is not None:
        losses.add("logprobs")
    if choice.finish == "error":
        losses.add("finish")
    if reply.dialect != DIALECT:
        losses.add_extra(reply.extra)
        return encode({**own, **body})
    return encode({**reply.extra, **own, **body})


def make_message_id(reply_id: str) -> str:
    # Client libraries of this format expect the vendor's prefix.
    return reply_id if reply_id.startswith("msg_") else f"msg_{reply_id}"


def make_call_id(call: ToolCall, reply_id: str, position: int) -> str:
    """The id that a client sends back with the result, with the call's own signature in it."""
    plain = call.id or f"toolu_{reply_id}_{position}"
    return seal_id(plain, call.origin, call.signature, ())


def keep_call_members(call: ToolCall, losses: Losses) -> Extra:
    """This dialect's own members of a call; those of others are lost."""
    losses.add_extra({k: v for k, v in call.extra.items() if k not in _CALL_MEMBERS})
    return {k: v for k, v in call.extra.items() if k in _CALL_MEMBERS}


def keep_own_members(extra: Extra, losses: Losses) -> dict[str, Raw]:
    """The late members of this dialect; others, even of the same name, are lost."""
    own = {k: v for k, v in extra.items() if k in _MARKS and _MARKS[k] in bytes(v)}
    losses.add_extra({name: value for name, value in extra.items() if name not in own})
    return own


def record_lost_part(part: AnyPart, losses: Losses) -> None:
    """Record a part that this dialect has no block for."""
    if isinstance(part, Foreign):
        losses.add(f"part:{part.type}")
    else:
        losses.add(str(getattr(part, "kind", "tool_result")))


def _write_part(part: AnyPart, reply_id: str, position: int, losses: Losses) -> OutputBlock | None:
    match part:
        case Text():
            if part.signature is not None:
                losses.add("reasoning_signature")
            # The vendor refuses an empty text when the client sends its history back.
            if not part.text:
                return None
            block: dict[str, object] = {"type": "text", "text": part.text}
            written = [write_citation_for_client(each, losses) for each in part.citations]
            citations = [each for each in written if each is not None]
            return {**block, "citations": citations} if citations else block
        case ToolCall():
            return {
                **keep_call_members(part, losses),
                "type": "tool_use",
                "id": make_call_id(part, reply_id, position),
                "name": part.name,
                "input": write_input(part, losses),
            }
        case Reasoning():
            if part.sealed is not None and not part.text and part.signature is None:
                return {"type": "redacted_thinking", "data": write_data(part)}
            signature = write_signature(part)
            if not part.text and not signature:
                return None
            return {"type": "thinking", "thinking": part.text, "signature": signature}
        case Refusal():
            is_in_details = "stop_details" in part.extra
            return None if is_in_details or not part.text else {"type": "text", "text": part.text}
        case Foreign() if part.dialect == DIALECT:
            return part.raw
    record_lost_part(part, losses)
    return None
