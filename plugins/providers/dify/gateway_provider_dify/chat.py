"""Dify's chat messages as a wire format: a vendor's side only, whose answers are always whole."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    Choice,
    Conversation,
    Losses,
    Reasoning,
    Refusal,
    Relay,
    Reply,
    Sampling,
    StreamEvent,
    StreamReader,
    Target,
    Text,
    UpstreamError,
    Usage,
    WireFormat,
)
from gateway_formats.fold import as_failure, unfold
from gateway_formats.relay import WholeRelay
from gateway_providers.services.refusals import read_refusal
from gateway_providers.services.usages import count_of

MODEL = "configured-app"
UNSUPPORTED = "unsupported_request"
BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_encode = msgspec.json.encode


class _Answer(Struct):
    answer: str
    message_id: str = ""
    created_at: int | None = None
    metadata: Any = None


_decode = msgspec.json.Decoder(_Answer).decode


class DifyVendor:
    """Calls an application."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        """Raises BadRequest for what an application cannot be asked."""
        known = {model.id for model in target.provider.models}
        if known and target.model.id not in known:
            raise _unsupported(f"The only model of {target.provider.shown} is {MODEL}", "model")
        if conversation.tools:
            raise _unsupported("A configured application takes no tools", "tools")
        query = flatten(conversation)
        _note_losses(conversation, losses)
        return _encode(
            {"inputs": {}, "query": query, "response_mode": "blocking", "user": str(uuid4())}
        )

    def read_reply(self, body: bytes) -> Reply:
        """Raises UpstreamError."""
        try:
            answer = _decode(body)
        except BROKEN:
            raise UpstreamError("The upstream gave an answer that could not be read") from None
        metadata = answer.metadata if isinstance(answer.metadata, Mapping) else {}
        return Reply(
            id=answer.message_id,
            model=MODEL,
            choices=(Choice(parts=(Text(text=answer.answer),)),),
            usage=_usage(metadata.get("usage")),
            created=answer.created_at,
        )

    def stream_reader(self) -> StreamReader:
        return WholeReader(self)

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_refusal(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/chat-messages"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        return WholeRelay(self._seen)

    def _seen(self, body: bytes) -> tuple[Usage | None, int]:
        reply = self.read_reply(body)
        return reply.usage, sum(len(getattr(p, "text", "")) for p in reply.choices[0].parts)


class WholeReader:
    """Gives a whole answer as the events of a stream, once it has arrived."""

    def __init__(self, vendor: DifyVendor) -> None:
        self._vendor = vendor
        self._held: list[bytes] = []

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        self._held.append(chunk)
        return ()

    def close(self) -> Sequence[StreamEvent]:
        try:
            return unfold(self._vendor.read_reply(b"".join(self._held)))
        except UpstreamError as error:
            return (as_failure(error),)


def flatten(conversation: Conversation) -> str:
    """The history as lines of a role and a text. Raises BadRequest for what is no text."""
    lines = [f"system: {part.text}" for part in conversation.instructions]
    for turn in conversation.turns:
        texts = [text for part in turn.parts if (text := _text_of(part))]
        if texts:
            lines.append(f"{turn.role}: " + "\n".join(texts))
    if not any(line.partition(": ")[2].strip() for line in lines):
        raise BadRequest("There is no text to send", code="invalid_request")
    return "\n".join(lines)


def _text_of(part: AnyPart) -> str:
    """A part's text; none of thinking, which stays behind. Raises BadRequest."""
    if isinstance(part, Text | Refusal):
        return part.text
    if isinstance(part, Reasoning):
        return ""
    raise _unsupported("A configured application takes nothing but text", "messages")


def _unsupported(message: str, member: str) -> BadRequest:
    return BadRequest(message, code=UNSUPPORTED, param=member)


def _usage(reported: Any) -> Usage | None:
    read, written = count_of(reported, "prompt_tokens"), count_of(reported, "completion_tokens")
    return Usage(input_tokens=read, output_tokens=written) if read or written else None


def _note_losses(conversation: Conversation, losses: Losses) -> None:
    """An application has settings of its own; nothing of a request changes them."""
    sampling, usual = conversation.sampling, Sampling()
    for name in Sampling.__struct_fields__:
        if getattr(sampling, name) not in (getattr(usual, name), None):
            losses.add(name)
    for name in ("thinking", "output", "user", "cache_key", "service_tier", "parallel_tools"):
        if getattr(conversation, name) is not None:
            losses.add(name)
    losses.add_extra(conversation.extra)
    for turn in conversation.turns:
        losses.add_extra(turn.extra, within="messages")
        if turn.name is not None:
            losses.add("name")
        for part in turn.parts:
            if isinstance(part, Reasoning):
                losses.add("reasoning")
            elif isinstance(part, Text) and part.citations:
                losses.add("citations")


CHAT = WireFormat(
    id="dify",
    dialect="dify",
    vendor=DifyVendor(),
    base_url="https://api.dify.ai/v1",
    stream_type="application/json",
)
