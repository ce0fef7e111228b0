"""Calls without a network: the exchange of a question, and what an answer says to its client."""

from collections.abc import Iterable, Sequence

import msgspec

from gateway_core import (
    Call,
    Credential,
    Exchange,
    Kind,
    Reasoning,
    Reply,
    StreamReader,
    Target,
    Text,
    ToolCall,
)
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_formats.fold import gather

from .chat_requests import ChatRequest
from .subject import ProviderUnderTest, Route


def open_exchange(
    subject: ProviderUnderTest, request: ChatRequest, account: Credential
) -> Exchange:
    """The exchange that the gateway would begin for this question."""
    members = members_of(request.body)
    model = _model_of(request)
    call = Call(
        kind=Kind.LLM,
        format=request.client,
        model=model,
        stream=request.stream,
        body=request.body,
        members=members,
    )
    model_id = model.partition("/")[2]
    places = next(place for place in subject.models() if place.id == model_id)
    translation = Translation(call, subject.registry.formats)
    return translation.open(Target(subject.spec, places), account)


def _model_of(request: ChatRequest) -> str:
    if request.client == "gemini":
        return request.path.partition("/models/")[2].rpartition(":")[0]
    return str(msgspec.json.decode(request.body)["model"])


class ParsedAnswer(msgspec.Struct, frozen=True):
    """What an answer says, whatever its format."""

    text: str
    thinking: str
    calls: tuple[tuple[str, object], ...]
    """Names and arguments, in order."""
    finish: str = "stop"
    """Why it ended, in the hub's words."""


def parse_answer(
    subject: ProviderUnderTest, route: Route, body: bytes, *, stream: bool
) -> ParsedAnswer:
    """Read a client's answer. Raises UpstreamError when it is none or has failed."""
    vendor = subject.registry.formats[route.client].vendor
    assert vendor is not None, "every client format of the kit has a vendor side"
    reply = _streamed(vendor.stream_reader(), body) if stream else vendor.read_reply(body)
    parts = [part for choice in reply.choices for part in choice.parts]
    return ParsedAnswer(
        text="".join(part.text for part in parts if isinstance(part, Text)),
        thinking="".join(part.text for part in parts if isinstance(part, Reasoning)),
        calls=tuple(
            (part.name, msgspec.json.decode(part.arguments or "{}"))
            for part in parts
            if isinstance(part, ToolCall)
        ),
        finish=reply.choices[0].finish if reply.choices else "stop",
    )


def _streamed(reader: StreamReader, body: bytes) -> Reply:
    return gather([*reader.feed(body), *reader.close()])


def feed_all(exchange: Exchange, pieces: Iterable[bytes]) -> bytes:
    """What the client gets when the vendor's bytes come in these pieces."""
    return b"".join(exchange.feed(piece) for piece in pieces) + exchange.close()


def choose_cuts(body: bytes, frames: Sequence[bytes], *, every: bool) -> list[int]:
    """Where to cut: everywhere, or round the ends of frames and inside of characters."""
    if every:
        return list(range(1, len(body)))
    places, at = set[int](), 0
    for frame in frames:
        at += len(frame)
        places |= {at - 2, at - 1, at, at + 1}
    places |= {at for at in range(1, len(body)) if 0x80 <= body[at] < 0xC0}
    return sorted(place for place in places if 0 < place < len(body))
