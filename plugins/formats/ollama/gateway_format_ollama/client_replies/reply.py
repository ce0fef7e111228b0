"""Write a whole reply for a client."""

from collections.abc import Sequence
from typing import Any

import msgspec

from gateway_core import (
    AnyPart,
    Choice,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    Usage,
)
from gateway_formats.ndjson import escape_line_separators

from .._lines import own_logprobs, time_of
from .tool_calls import call_row, is_signed

_encode = msgspec.json.encode


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """The first answer; this dialect has only one."""
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    body: dict[str, Any] = {
        "model": reply.model or request.model,
        "created_at": time_of(reply.created),
        "message": message_of(choice.parts, losses),
    }
    if tokens := own_logprobs(choice.logprobs):
        body["logprobs"] = tokens
    if choice.stop_sequence is not None:
        losses.add("stop_sequence")
    body |= ending(choice.finish, reply.usage)
    return escape_line_separators(_encode(body))


def write_load(model: str, now: int, *, is_loaded: bool) -> bytes:
    """What the server answers to a request without messages, as one line.

    https://github.com/ollama/ollama/blob/main/docs/api.md#chat-request-load-a-model
    """
    body: dict[str, Any] = {
        "model": model,
        "created_at": time_of(now),
        "message": {"role": "assistant", "content": ""},
        "done_reason": "load" if is_loaded else "unload",
        "done": True,
    }
    return escape_line_separators(_encode(body)) + b"\n"


def ending(finish: str, usage: Usage | None) -> dict[str, Any]:
    """The members that say that an answer is over, why, and what it took."""
    # The server gives stop after tool calls as well.
    reason = "stop" if finish == "tool_calls" else finish
    members: dict[str, Any] = {"done_reason": reason, "done": True}
    if usage is not None:
        members["prompt_eval_count"] = usage.input_tokens
        members["eval_count"] = usage.output_tokens
    return members


def message_of(parts: Sequence[AnyPart], losses: Losses) -> dict[str, Any]:
    texts = [part.text for part in parts if isinstance(part, Text | Refusal)]
    # Client libraries require role and content, even when empty.
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts)}
    if thinking := "".join(part.text for part in parts if isinstance(part, Reasoning)):
        message["thinking"] = thinking
    rows: list[dict[str, Any]] = []
    thoughts: list[Reasoning] = []
    for part in parts:
        if isinstance(part, Reasoning):
            thoughts.append(part)
        elif isinstance(part, ToolCall):
            rows.append(call_row(part, len(rows), thoughts))
            thoughts = []
    if is_signed(thoughts):
        losses.add("reasoning_signature")
    if rows:
        message["tool_calls"] = rows
    for part in parts:
        note_part(part, losses)
    return message


def note_part(part: AnyPart, losses: Losses) -> None:
    """Record what of an answer's part a client of this dialect does not get."""
    match part:
        case Text(citations=citations) if citations:
            losses.add("citations")
        case Refusal():
            losses.add("refusal")
        case Foreign():
            losses.add(f"part:{part.type}")
        # Clients of this dialect cannot read an answer that holds an image.
        case Media():
            losses.add(part.kind)
