"""Text completions: the older dialect that asks with one prompt, for clients that still do.

It runs as a chat with one user message; only the client's side of it exists.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Call,
    Choice,
    ChoiceEnded,
    Conversation,
    Intake,
    Losses,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Turn,
    Usage,
    UsageReported,
)
from gateway_formats.intake import read_flag, read_text
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.relay import CUT_SHORT

from .finish import write_finish
from .frames import DONE_FRAME, Frames, failure_frame
from .members import (
    Members,
    anything_of,
    body_of,
    encode,
    first,
    invalid,
    is_list,
    is_text,
    items_of,
    take,
    text_of,
)
from .requests import read_rest
from .usage import write_usage

_PREFIX = "cmpl-"
_KIND = "text_completion"


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """Raises BadRequest for a prompt that is missing or not one prompt."""
    _prompt(dict(members))
    return Intake(read_text(members, "model"), read_flag(members, "stream"))


def read_request(call: Call) -> Conversation:
    members = body_of(call.body, "Invalid JSON body")
    prompt = _prompt(members)
    wanted = _take_logprobs(members)
    turns = (Turn("user", (Text(text=prompt),) if prompt else ()),)
    conversation = read_rest(call, members, (), turns)
    if wanted is None:
        return conversation
    sampling = replace(conversation.sampling, logprobs=True, top_logprobs=wanted or None)
    return replace(conversation, sampling=sampling)


def _prompt(members: Members) -> str:
    raw = take(members, "prompt")
    if raw is None:
        raise BadRequest("Missing prompt", param="prompt")
    if is_text(raw):
        return text_of(raw, "prompt")
    items = items_of(raw, "prompt") if is_list(raw) else []
    if len(items) > 1 and all(is_text(item) or is_list(item) for item in items):
        raise BadRequest("multiple prompts not supported", param="prompt")
    if len(items) != 1 or not is_text(items[0]):
        raise BadRequest("Invalid prompt", param="prompt")
    return text_of(items[0], "prompt[0]")


def _take_logprobs(members: Members) -> int | None:
    """Here a number says both that log probabilities are wanted and how many."""
    raw = members.get("logprobs")
    if raw is None or first(raw) in b"tfn":
        return None
    value = anything_of(raw)
    if type(value) is not int or value < 0:
        raise invalid("logprobs", "must be an integer")
    del members["logprobs"]
    return value


def completion_id(text: str) -> str:
    return text if text.startswith(_PREFIX) else _PREFIX + text.removeprefix("chatcmpl-")


def write_reply(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    body: dict[str, Any] = {
        "id": completion_id(reply.id),
        "object": _KIND,
        "created": reply.created or 0,
        "model": reply.model or asked.model,
        "choices": [_choice(index, choice, losses) for index, choice in enumerate(reply.choices)],
    }
    if reply.usage is not None:
        body["usage"] = write_usage(reply.usage)
    return encode(body)


def _choice(index: int, choice: Choice, losses: Losses) -> dict[str, Any]:
    for part in choice.parts:
        _note_lost(part, losses)
    text = "".join(part.text for part in choice.parts if isinstance(part, Text | Refusal))
    return {
        "text": text,
        "index": index,
        "logprobs": older_logprobs(choice.logprobs),
        "finish_reason": _finish(choice),
    }


def _note_lost(part: object, losses: Losses) -> None:
    if isinstance(part, ToolCall):
        losses.add("tool_calls")
    elif isinstance(part, Reasoning):
        losses.add("reasoning")
    elif not isinstance(part, Text | Refusal):
        losses.add(getattr(part, "kind", None) or f"part:{getattr(part, 'type', 'unknown')}")


def _finish(ended: Choice | ChoiceEnded) -> str:
    return write_finish("stop" if ended.finish == "tool_calls" else ended.finish)


class _Alternative(msgspec.Struct):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Tokens(msgspec.Struct):
    content: list[_Token] | None = None


_tokens = msgspec.json.Decoder(_Tokens)


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


class CompletionWriter:
    """Each piece of text as a chunk of its own; whatever else an answer holds has no place."""

    _frames: Frames

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self._asked = asked
        self._losses = losses
        self._usage: Usage | None = None
        self._failed = False
        self._begun = False
        self._shown: set[tuple[int, int]] = set()
        self._lengths: dict[int, int] = {}

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        return escape_line_separators(b"".join(self._written(event) for event in events))

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._begun:
            return failure_frame(ReplyFailed(CUT_SHORT))
        usage = b""
        if self._usage is not None and self._asked.stream_usage:
            usage = self._frames.usage(self._usage)
        return usage + DONE_FRAME

    def _written(self, event: StreamEvent) -> bytes:
        match event:
            case PartGrew():
                return self._grow(event)
            case PartStarted():
                return self._start_part(event)
            case ReplyStarted():
                self._start(event)
            case UsageReported(usage):
                self._usage = usage
            case ChoiceEnded():
                return self._frames.finish(event.choice, b'"text":""', _finish(event))
            case ReplyFailed():
                self._failed = True
                return failure_frame(event)
            case _:
                pass
        return b""

    def _start(self, event: ReplyStarted) -> None:
        self._begun = True
        model = event.model or self._asked.model
        wants_usage = self._asked.stream_usage
        self._frames = Frames(event, completion_id(event.id), model, _KIND, wants_usage)

    def _start_part(self, event: PartStarted) -> bytes:
        part = event.part
        _note_lost(part, self._losses)
        if not isinstance(part, Text | Refusal):
            return b""
        self._shown.add((event.choice, event.index))
        return self._grow(PartGrew(event.index, part.text, event.choice)) if part.text else b""

    def _grow(self, event: PartGrew) -> bytes:
        if (event.choice, event.index) not in self._shown:
            return b""
        frames, start = self._frames, self._lengths.get(event.choice, 0)
        self._lengths[event.choice] = start + len(event.text)
        head = frames.head(event.choice, b'"text":%b,' % encode(event.text))
        if event.logprobs is None:
            return head + frames.tail
        return head + frames.with_tokens(encode(older_logprobs(event.logprobs, start)))
