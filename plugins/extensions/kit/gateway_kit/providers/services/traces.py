"""What a call of a service makes of its vendor: every request, the losses and the client's answer,
so that two calls can be compared."""

from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import FormPart, GatewayError, UpstreamRequest

from ..service_samples import ServiceSample
from .service_call import CREATED, ServiceCall, feed_all

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Trace(Struct, frozen=True, kw_only=True):
    """What became of one call. Two that are equal are the same to vendor and client."""

    requests: tuple[UpstreamRequest, ...] = ()
    """In their order."""
    answer: bytes = b""
    media_type: str = ""
    losses: tuple[str, ...] = ()
    refused: str | None = None
    """Why the adapter refuses the call."""


def trace(call: ServiceCall) -> Trace:
    """Open a call and carry the sample's answers through it, as far as it asks for them."""
    try:
        exchange = call.open()
    except GatewayError as error:
        return Trace(refused=error.message)
    requests, output = [exchange.request], b""
    replies = (*call.sample.before, call.sample.reply) if call.is_answered else ()
    for place, reply in enumerate(replies):
        is_last = place == len(replies) - 1
        result = feed_all(exchange, (reply,), call.sample.type_of(is_last=is_last))
        output = result.body
        if exchange.following is not None:
            requests.append(exchange.following.request)
        if exchange.following is None or exchange.failure is not None:
            break
    return Trace(
        requests=tuple(requests),
        answer=CREATED.sub(b"", output),
        media_type=exchange.media_type,
        losses=tuple(exchange.losses.names),
    )


def with_members(call: ServiceCall, members: Mapping[str, Any]) -> ServiceCall:
    """The call with these members of its body, or fields of its form, in the place of its own."""
    return replace(call, sample=changed_sample(call.sample, members))


def changed_sample(sample: ServiceSample, members: Mapping[str, Any]) -> ServiceSample:
    """A sample that asks with these members; a list is a repeated field of a form."""
    if sample.form:
        kept = [part for part in sample.form if part.name not in members]
        new = [part for name, value in members.items() for part in fields_of(name, value)]
        return replace(sample, form=(*kept, *new))
    own = msgspec.json.decode(sample.request)
    return replace(sample, request=msgspec.json.encode({**own, **members}))


def fields_of(name: str, value: Any) -> Iterator[FormPart]:
    for each in value if isinstance(value, list) else [value]:
        text = each if isinstance(each, str) else msgspec.json.encode(each).decode()
        yield FormPart(name=name, content=text.encode())


def body_of(request: UpstreamRequest) -> bytes:
    """The whole body, wherever its parts are."""
    return request.body if request.parts is None else bytes(request.parts)


def texts_of(requests: Iterable[UpstreamRequest]) -> str:
    """Every text and number that these requests hold, as the vendor reads it: without the escapes
    of addresses, JSON and XML."""
    return "\n".join(text for request in requests for text in _texts(request))


def _texts(request: UpstreamRequest) -> Iterator[str]:
    parts = urlsplit(request.url)
    yield unquote(parts.path)
    yield from (value for _, value in parse_qsl(parts.query, keep_blank_values=True))
    yield from request.headers.values()
    body = body_of(request)
    try:
        yield from leaves(msgspec.json.decode(body))
    except _UNREADABLE:
        text = body.decode("utf-8", "replace")
        yield text
        yield unescape(text)
        if "urlencoded" in request.headers.get("content-type", ""):
            yield from (value for _, value in parse_qsl(text, keep_blank_values=True))


def leaves(value: Any) -> Iterator[str]:
    """Every text and number in a value of JSON, and the texts with the escapes of XML undone."""
    if isinstance(value, str):
        yield value
        if unescape(value) != value:
            yield unescape(value)
    elif isinstance(value, Mapping):
        yield from (leaf for each in value.values() for leaf in leaves(each))
    elif isinstance(value, list):
        yield from (leaf for each in value for leaf in leaves(each))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(int(value)) if value == int(value) else str(value)


def objects_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in a value of JSON, the outer ones first."""
    if isinstance(value, Mapping):
        yield value
        yield from (inner for each in value.values() for inner in objects_in(each))
    elif isinstance(value, list):
        yield from (inner for each in value for inner in objects_in(each))
