"""Calls without a network: the exchange of a request, and the content of an answer."""

from collections.abc import Iterable, Sequence

import msgspec

from gateway_core import (
    Call,
    Credential,
    Exchange,
    Kind,
    Reasoning,
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
    if request.client == "gemini":
        model = request.path.partition("/models/")[2].rpartition(":")[0]
    else:
        model = str(msgspec.json.decode(request.body)["model"])
    call = Call(
        kind=Kind.LLM,
        format=request.client,
        model=model,
        stream=request.stream,
        body=request.body,
        members=members,
    )
    model_id = model.partition("/")[2]
    row = next(each for each in subject.models() if each.id == model_id)
    translation = Translation(call, subject.registry.formats)
    return translation.open(Target(subject.spec, row), account)


class ParsedAnswer(msgspec.Struct, frozen=True):
    """The content of an answer, independent of its format."""

    text: str
    thinking: str
    calls: tuple[tuple[str, object], ...]
    """Names and arguments, in order."""
    finish: str = "stop"
    """The finish reason, as the gateway names it."""


def parse_answer(
    subject: ProviderUnderTest, route: Route, body: bytes, *, stream: bool
) -> ParsedAnswer:
    """Read a client's answer. Raises UpstreamError when it is none or has failed."""
    vendor = subject.registry.formats[route.client].vendor
    assert vendor is not None, "every client format of the kit has a vendor side"
    if stream:
        reader = vendor.stream_reader()
        reply = gather([*reader.feed(body), *reader.close()])
    else:
        reply = vendor.read_reply(body)
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
