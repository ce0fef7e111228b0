"""Cases about the request of a service."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit

import msgspec
from msgspec.structs import replace

from gateway_administration.plugins.manifest import auth_type
from gateway_core import Kind, UpstreamRequest
from gateway_core.upstream.allowed_hosts import allowed_hosts, is_named
from gateway_core.upstream.transport import MalformedUrl
from gateway_core.upstream.transport.urls import parse
from gateway_kit.case import Case, expect_none
from gateway_kit.json_bodies import is_json

from ..harness import ProviderHarness
from ..service_samples import JSON
from .service_call import CLIENT_KEY, COOKIE, ServiceCall
from .traces import body_of

TEXTS = ("one text 4711", "another text 4712")
METHODS = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT"})

_UNNAMED = (Kind.SEARCH, Kind.FETCH)
"""What is looked up by a vendor rather than by a model that it could name."""
Check = Callable[[ServiceCall, UpstreamRequest], Iterable[str]]


def request_cases(call: ServiceCall) -> Iterator[Case]:
    def case(name: str, advice: str, check: Check) -> Case:
        async def run(harness: ProviderHarness) -> None:
            expect_none(check(call, call.request()))

        return call.case(name, advice, run)

    yield case(
        "one request",
        "Open an exchange whose request has a method, header names in lower case, a body "
        "of the type that content-type names, and what the client said.",
        lambda call, request: [*head_faults(call, request), *words_faults(call, request)],
    )
    if call.service.kind == Kind.EMBEDDING:
        yield case(
            "every text",
            "Send each text whole, whether it comes alone or in a list, and name in losses which "
            "members are left out.",
            lambda call, request: [*text_faults(call)],
        )
    yield case(
        "address",
        "Send to the addresses that the ProviderSpec declares, or to the account's own.",
        address_faults,
    )
    yield case("model", "Send the vendor's model id, without the provider's prefix.", model_faults)
    yield case(
        "key", "Show the account's key in exactly one header, and nothing of the client's.", keys
    )
    yield case(
        "asked twice",
        "Make each exchange anew from its call: keep nothing of one call for another.",
        lambda call, first: [] if call.request() == first else ["two equal calls differ"],
    )


def text_faults(call: ServiceCall) -> Iterator[str]:
    """What the vendor does not get of one text, of two, and of a member beside them."""
    for given in (TEXTS[0], list(TEXTS)):
        members = {"model": "MODEL", "input": given, "dimensions": 4713}
        body = msgspec.json.encode(members)
        asked = replace(call, sample=replace(call.sample, request=body, form=()))
        exchange = asked.open()
        sent = exchange.request.body
        for text in TEXTS[:1] if isinstance(given, str) else TEXTS:
            if text.encode() not in sent and exchange.following is None and exchange.is_single:
                yield f"{text!r} is not in the request"
        if b"4713" not in sent and not exchange.losses:
            yield "dimensions are left out, and losses do not say so"


def head_faults(call: ServiceCall, request: UpstreamRequest) -> Iterator[str]:
    if request.method not in METHODS:
        yield f"the method is {request.method!r}"
    yield from (f"the header {n} is not in lower case" for n in request.headers if n != n.lower())
    media = request.headers.get("content-type", "")
    if body_of(request) and not media:
        yield "the body has no content type"
    if "json" in media and not is_json(body_of(request)):
        yield "the content type is JSON and the body is not"
    if media.startswith("multipart/") and not _has_boundary(media, body_of(request)):
        yield f"the body is not divided as {media} says"


def words_faults(call: ServiceCall, request: UpstreamRequest) -> Iterator[str]:
    """Whether the request holds any of the client's content; vendors may encode it differently."""
    if call.sample.request_type != JSON or not call.sample.request:
        return
    client_request = msgspec.json.decode(call.sample.request)
    words = [word for word in _words(client_request) if word != "MODEL"]
    texts = [unquote_plus(request.url)]
    try:
        texts += _words(msgspec.json.decode(body_of(request)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        texts.append(body_of(request).decode("utf-8", "replace"))
    if words and not any(word in text for word in words for text in texts):
        yield f"none of the client's words reach the vendor, such as {words[0]!r}"


def _words(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from (word for each in inner for word in _words(each))


def address_faults(call: ServiceCall, request: UpstreamRequest) -> Iterator[str]:
    parts = urlsplit(request.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield f"{request.url} is no absolute URL"
    elif not is_declared(request.url, call):
        yield f"{parts.netloc} is none of the hosts that the ProviderSpec declares"
    if "//" in parts.path or "{" in unquote(parts.path):
        yield f"the path {parts.path} has an empty step or an unfilled place"


def model_faults(call: ServiceCall, request: UpstreamRequest) -> Iterator[str]:
    model, prefixed = call.model.id, f"{call.subject.spec.id}/{call.model.id}"
    # A job may name it in a later request than its first.
    requests = (request, *(step.request for step in call.steps(call.open())))
    sent = "\n".join(text for each in requests for text in texts_of(each))
    if prefixed in sent:
        yield f"the model is sent as {prefixed}"
    elif call.service.kind in _UNNAMED or call.sample.path:
        return
    elif (call.sample.named_as or model) not in sent:
        yield f"neither the URL nor the body names the model {model}"


def texts_of(request: UpstreamRequest) -> Iterator[str]:
    """Where a request may name its model."""
    yield body_of(request).decode("utf-8", "replace").replace("\\/", "/")
    yield unquote(request.url)
    yield from request.headers.values()


def keys(call: ServiceCall, request: UpstreamRequest) -> Iterator[str]:
    """Where the account's key is, and whether a credential of the client is sent."""
    texts = {**request.headers, "the address": unquote(request.url)}
    texts["the body"] = body_of(request).decode("utf-8", "replace")
    for word in (CLIENT_KEY, COOKIE):
        yield from (f"the client's secret is in {name}" for name in texts if word in texts[name])
    secret = call.subject.account.secret
    places = [name for name in texts if secret and secret in texts[name]]
    wanted = 0 if secret is None or auth_type(call.subject.spec) == "none" else 1
    is_query = call.subject.spec.auth.scheme == "query"
    allowed = "the address" if is_query else None
    if len(places) != wanted or any(p.startswith("the ") and p != allowed for p in places):
        yield f"the key is in {', '.join(places) or 'no header at all'}"


def is_declared(url: str, call: ServiceCall) -> bool:
    """By the gateway's own rule for what a plugin may call."""
    try:
        parsed = parse(url)
    except MalformedUrl:
        return False
    spec, data = call.subject.spec, call.subject.account.data
    return allowed_hosts(spec).covers(parsed.origin) or is_named(parsed, data)


def _has_boundary(media: str, body: bytes) -> bool:
    boundary = media.partition("boundary=")[2].strip('"').encode()
    return bool(boundary) and body.rstrip().endswith(b"--" + boundary + b"--")
