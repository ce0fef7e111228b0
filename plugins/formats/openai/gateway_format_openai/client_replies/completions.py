"""Any vendor's reply, written whole as a text completion."""

from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    Choice,
    ChoiceEnded,
    Conversation,
    Losses,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
)

from .._finish import write_finish
from .._members import encode
from .._usage import write_usage

_PREFIX = "cmpl-"

KIND = "text_completion"


def completion_id(text: str) -> str:
    return text if text.startswith(_PREFIX) else _PREFIX + text.removeprefix("chatcmpl-")


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """The object: https://platform.openai.com/docs/api-reference/completions/object."""
    choices: list[dict[str, Any]] = []
    for index, choice in enumerate(reply.choices):
        for part in choice.parts:
            note_lost(part, losses)
        text = "".join(part.text for part in choice.parts if isinstance(part, Text | Refusal))
        choices.append(
            {
                "text": text,
                "index": index,
                "logprobs": older_logprobs(choice.logprobs),
                "finish_reason": finish_word(choice),
            }
        )
    body: dict[str, Any] = {
        "id": completion_id(reply.id),
        "object": KIND,
        "created": reply.created or 0,
        "model": reply.model or request.model,
        "choices": choices,
    }
    if reply.usage is not None:
        body["usage"] = write_usage(reply.usage)
    return encode(body)


def note_lost(part: object, losses: Losses) -> None:
    if isinstance(part, ToolCall):
        losses.add("tool_calls")
    elif isinstance(part, Reasoning):
        losses.add("reasoning")
    elif isinstance(part, Text) and part.citations:
        losses.add("citations")
    elif not isinstance(part, Text | Refusal):
        losses.add(getattr(part, "kind", None) or f"part:{getattr(part, 'type', 'unknown')}")


def finish_word(ended: Choice | ChoiceEnded) -> str:
    return write_finish("stop" if ended.finish == "tool_calls" else ended.finish)


class _Alternative(msgspec.Struct):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _TokenList(msgspec.Struct):
    content: list[_Token] | None = None


_tokens = msgspec.json.Decoder(_TokenList)


def older_logprobs(raw: Raw | None, offset: int = 0) -> dict[str, Any] | None:
    """Log probabilities in the older shape; ``offset`` is where the text begins."""
    if raw is None:
        return None
    try:
        content = _tokens.decode(raw).content or []
    except msgspec.MsgspecError:
        return None
    offsets = []
    for token in content:
        offsets.append(offset)
        offset += len(token.token)
    return {
        "tokens": [token.token for token in content],
        "token_logprobs": [token.logprob for token in content],
        "top_logprobs": [
            {other.token: other.logprob for other in token.top_logprobs} for token in content
        ],
        "text_offset": offsets,
    }
