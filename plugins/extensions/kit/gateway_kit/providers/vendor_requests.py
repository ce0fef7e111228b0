"""Cases about the request that reaches the vendor: address, model, key, members, limits."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from gateway_administration.plugins.manifest import auth_type
from gateway_core import UpstreamRequest, VendorSide
from gateway_kit.case import Case, expect
from gateway_kit.mock_vendor import MockAnswer, ReceivedRequest

from .chat_requests import WORDS, build_request
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route

VALUES: dict[str, Any] = {"logprobs": True, "logit_bias": {}, "metadata": {"a": "b"}, "stop": "x"}
"""Members whose value must be of a kind; any other is a number."""
COOKIE = "client-cookie-5511"
UNKNOWN = {"kit_member": "kit-5511"}
"""A member that no format knows."""

Check = Callable[[ProviderHarness, ReceivedRequest], Iterable[str]]
"""What is wrong with a request, in sentences."""


def request_cases(subject: ProviderUnderTest, route: Route, *, stream: bool) -> Iterator[Case]:
    def case(name: str, advice: str, check: Check) -> Case:
        async def run(harness: ProviderHarness) -> None:
            extra_members = UNKNOWN if route.passes_through else {}
            request = await _ask_vendor(
                harness, subject, route, stream=stream, extra_members=extra_members
            )
            fault = list(check(harness, request))
            expect(not fault, "; ".join(fault))

        way = "stream" if stream else "whole"
        return Case(name=f"{subject.spec.id}: {route}-{way}: {name}", advice=advice, run=run)

    yield case(
        "one request",
        "Send one POST with a JSON object for each call, through the transport, once, and all that "
        "the client said in it.",
        lambda harness, request: [
            *head_faults(request, harness.sent()[-1]),
            *words_faults(request, route),
        ],
    )
    yield case(
        "address",
        "Let base_url end before the format's own path, or set chat_path or url_builder.",
        lambda harness, request: address_faults(
            subject, route, harness.sent()[-1].url, stream=stream
        ),
    )
    yield case(
        "model",
        "Send the model's own id as it is declared, without a prefix, and stream as asked.",
        lambda harness, request: model_faults(request, route, subject.spec.id, stream=stream),
    )
    yield case(
        "key",
        "Show the account's key in exactly one header, and nothing that the client sent.",
        lambda harness, request: key_faults(request, subject, harness.client_key, harness.logged),
    )


def member_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """Members that are to be dropped or renamed, and the limit of time."""
    spec, where = subject.spec, f"{subject.spec.id}: {route}"

    async def members(harness: ProviderHarness) -> None:
        names = {*spec.drop, *spec.rename, *route.model.unsupported} - {"model", "stream"}
        extra_members = {name: VALUES.get(name, 1) for name in sorted(names)}
        request = await _ask_vendor(
            harness, subject, route, stream=False, extra_members=extra_members
        )
        body = request.json()
        for name in (*spec.drop, *route.model.unsupported):
            expect(name not in body, f"{name} is sent, which this vendor rejects")
        for name, other in spec.rename.items():
            expect(name not in body and other in body, f"{name} is not sent as {other}")

    async def patient(harness: ProviderHarness) -> None:
        await _ask_vendor(harness, subject, route, stream=False)
        limit = harness.sent()[-1].first_byte_timeout
        expected = None if spec.timeout_ms is None else spec.timeout_ms / 1000
        expect(limit == expected, f"the limit is {limit} seconds and should be {expected}")

    if route.passes_through and (spec.drop or spec.rename or route.model.unsupported):
        yield Case(
            name=f"{where}: members",
            advice="Do not put back what drop, unsupported and rename take away.",
            run=members,
        )
    yield Case(
        name=f"{where}: patience",
        advice="An executor hands on first_byte_timeout, which comes from timeout_ms.",
        run=patient,
    )


async def _ask_vendor(
    harness: ProviderHarness,
    subject: ProviderUnderTest,
    route: Route,
    *,
    stream: bool,
    extra_members: Mapping[str, Any] = {},
) -> ReceivedRequest:
    """The one request that reached the vendor."""
    client_request = build_request(subject, route, stream=stream, extra_members=extra_members)
    scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
    headers = {"cookie": f"session={COOKIE}", "x_goog_api_key": harness.client_key}
    answer = await harness.ask(
        client_request, scene.response(), x_api_key=harness.client_key, **headers
    )
    expect(
        harness.sent(), f"nothing went through the transport; the answer was {answer.text[:200]}"
    )
    expect(len(harness.received()) == 1, f"the vendor was asked {len(harness.received())} times")
    return harness.received()[0]


def head_faults(request: ReceivedRequest, sent: UpstreamRequest) -> Iterator[str]:
    """Method, content type, spelling of headers, and whether the body is an object."""
    media = request.headers.get("content-type", "")
    if request.method != "POST":
        yield f"the method is {request.method}"
    if not media.startswith("application/json"):
        yield f"the content type is {media!r}"
    yield from (f"the header {name} comes twice" for name in request.repeated)
    upper = [name for name in sent.headers if name != name.lower()]
    yield from (f"the header {name} is not in lower case" for name in upper)
    if not isinstance(_members(request), dict):
        yield "the body is no JSON object"


def words_faults(request: ReceivedRequest, route: Route) -> Iterator[str]:
    """What the client sent and the vendor does not get."""
    text = request.text
    if WORDS not in text:
        yield f"the client's words {WORDS!r} are not in the body"
    if route.passes_through:
        missing = (name for name, value in UNKNOWN.items() if name not in text or value not in text)
        yield from (f"the client's member {name} is not in the body" for name in missing)


def address_faults(
    subject: ProviderUnderTest, route: Route, url: str, *, stream: bool
) -> Iterator[str]:
    """What is wrong with a call's whole URL."""
    parts, spec = urlsplit(url), subject.spec
    vendor = route.wire.vendor
    if parts.scheme not in ("http", "https") or not parts.netloc:
        yield f"{url} is no absolute URL"
    if "//" in parts.path or "{" in unquote(parts.path):
        yield f"the path {parts.path} has an empty step or an unfilled place"
    usual = unquote(_own_path(route, vendor, stream=stream).partition("?")[0])
    end = (
        (spec.chat_path or usual).partition("?")[0]
        if (route.model.format in (None, route.wire.id))
        else usual
    )
    path = unquote(parts.path).removesuffix(spec.url_suffix or "")
    start = path.removesuffix(end)
    # A place that the plugin builds may name the dialect, as in /messages/v1/messages.
    is_twice = start.endswith(end) if spec.url_builder else end in start
    if not path.endswith(end):
        yield f"the path {parts.path} does not end with {end}"
    elif is_twice:
        yield f"the path {parts.path} has {end} twice"
    if subject.spec.chat_path is None and stream and "?" in _own_path(route, vendor, stream=stream):
        expected = _own_path(route, vendor, stream=stream).partition("?")[2]
        if expected not in parts.query:
            yield f"the query of a stream should have {expected}"


def _own_path(route: Route, vendor: VendorSide | None, *, stream: bool) -> str:
    return vendor.path(route.model.id, stream) if vendor is not None else ""


def model_faults(
    request: ReceivedRequest, route: Route, provider: str, *, stream: bool
) -> Iterator[str]:
    """Whether the model and ``stream`` are where the format has them."""
    stream = stream and route.dialect.framing != "whole"
    members, model = _members(request), route.model.id
    if route.wire.model_in_body:
        name, flag = route.dialect.model_member, route.dialect.stream_member
        if name is not None and members.get(name) != model:
            yield f"the body names the model {members.get(name)!r}, not {model!r}"
        if flag is not None and bool(members.get(flag)) != stream:
            yield f"the body says {flag}={members.get(flag)!r}"
    elif f"/{model}" not in unquote(request.path):
        yield f"the path {request.path} does not name the model {model!r}"
    elif f"{provider}/{model}" in unquote(request.path):
        yield f"the path {request.path} has the provider's prefix"


def key_faults(
    request: ReceivedRequest, subject: ProviderUnderTest, client_key: str, logged: str
) -> Iterator[str]:
    """Where the account's key is, and whether a credential of the client is sent."""
    secret, expected = subject.account.secret, auth_type(subject.spec) != "none"
    fault = {**request.headers, "the address": unquote(request.target), "the body": request.text}
    for word in (client_key, COOKIE):
        yield from (f"the client's secret is in {name}" for name in fault if word in fault[name])
    if secret is None:
        return
    if secret in logged:
        yield "the key is in the log"
    places = [name for name in fault if secret in fault[name]]
    if expected and len(places) != 1:
        yield f"the key is in {', '.join(places) or 'no header at all'}"
    elif not expected and places:
        yield f"the vendor takes no key, and one is in {', '.join(places)}"
    elif len(places) == 1 and places[0].startswith("the "):
        yield f"the key is in {places[0]}"


def _members(request: ReceivedRequest) -> Any:
    try:
        return request.json()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
