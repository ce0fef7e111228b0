"""One line of an answer: its shape on the wire, and what it says beside words.

A line is read with only the members that mean something; a whole answer is one
line that is also the last.
"""

from datetime import UTC, datetime
from hashlib import blake2s
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import ReplyFailed, Usage

# Clients parse created_at, so it is always a time.
EPOCH = "1970-01-01T00:00:00Z"
_MOST = 1_000_000_000
"""A token count above this is a mistake."""


NOTHING = Raw(b"null")


class Function(Struct):
    name: str
    arguments: Raw = NOTHING


class ToolCallRow(Struct):
    function: Function
    id: str | None = None


class Message(Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCallRow] | None = None
    images: list[str] | None = None


class TokenOption(Struct):
    token: str
    logprob: float
    bytes: list[int] | None = None


class Token(Struct):
    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: list[TokenOption] | None = None


# https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
class Line(Struct):
    message: Message | None = None
    done: bool | None = None
    error: Any = None
    logprobs: list[Token] | None = None
    model: str | None = None
    created_at: str | None = None
    done_reason: str | None = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    status_code: Any = None


class _Tokens(Struct):
    content: list[Token] | None = None


decode_line = msgspec.json.Decoder(Line).decode
_decode_tokens = msgspec.json.Decoder(_Tokens).decode
_encode = msgspec.json.encode


def failure_of(error: Any, status: Any = None) -> ReplyFailed:
    """The server's own error, a sentence or an object around one."""
    message = error.get("message") if isinstance(error, dict) else error
    known = type(status) is int and 400 <= status < 600
    return ReplyFailed(
        message if message and isinstance(message, str) else "The upstream failed",
        status=status if known else 502,
    )


def usage_of(prompt: Any, answer: Any) -> Usage | None:
    """Nothing when neither count is there and valid."""
    # type() and not isinstance(): bool is a subclass of int.
    counts = [c if type(c) is int and 0 <= c <= _MOST else None for c in (prompt, answer)]
    if counts == [None, None]:
        return None
    return Usage(input_tokens=counts[0] or 0, output_tokens=counts[1] or 0)


def seed_of(line: Line, encoded: bytes) -> str:
    """What tells this answer from others; answers have no id, but they have their time."""
    source = f"{line.model}/{line.created_at}".encode() if line.created_at else encoded
    return blake2s(source, digest_size=12).hexdigest()


def seconds_of(created_at: str | None) -> int | None:
    try:
        return int(datetime.fromisoformat(created_at or "").timestamp())
    except (ValueError, OverflowError):
        return None


def time_of(seconds: int | None) -> str:
    """Unix seconds as this dialect writes a time."""
    if seconds is None:
        return EPOCH
    try:
        # RFC 3339, as in the server's answers: https://github.com/ollama/ollama/blob/main/docs/api.md#response
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return EPOCH


def hub_logprobs(tokens: list[Token]) -> Raw:
    """Tokens in the chat-completions shape, which needs every member present."""
    for token in tokens:
        # https://platform.openai.com/docs/api-reference/chat/object
        token.top_logprobs = token.top_logprobs or []
    return Raw(_encode({"content": tokens}))


def own_logprobs(logprobs: Raw | None) -> list[Token]:
    """The tokens out of the chat-completions shape; none of a shape that is not that."""
    try:
        return (_decode_tokens(logprobs).content or []) if logprobs is not None else []
    except msgspec.MsgspecError:
        return []
