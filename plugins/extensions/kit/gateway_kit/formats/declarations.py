"""Laws of what a format declares: its properties, its endpoints, and its imports."""

import re
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

import gateway_core
from gateway_core import BadRequest, Counting, Intake, WireFormat

from . import format_modules, sample_values
from .case import Law, check_each, expect, expect_equal, has_both, has_client, has_vendor, law
from .harness import FormatHarness, members_of

_RAWS = (b"null", b"7", b'""', b'"m"', b"[]", b"{}", b"true", b"[[]]", b'"\\u0000"', b"")
_JSON = msgspec.json.Decoder(Any)


def has_endpoints(wire: WireFormat) -> bool:
    return bool(wire.endpoints)


def has_counting(wire: WireFormat) -> bool:
    return any(endpoint.counting for endpoint in wire.endpoints)


def always(wire: WireFormat) -> bool:
    return True


@law(
    "declared/facts",
    "a declared fact is not in its usual form",
    "give ids and dialect, lower-case header names, a base URL without a slash at its end, "
    "and at least one side",
    always,
)
def facts(harness: FormatHarness) -> None:
    wire = harness.wire
    expect(bool(wire.id and wire.dialect), wire.id, wire.dialect)
    expect(wire.client is not None or wire.vendor is not None, "no side")
    names = (*wire.forward, *wire.headers, wire.auth_header)
    expect_equal(names, tuple(name.lower() for name in names), "header names:")
    expect(not (wire.base_url or "").endswith("/"), wire.base_url)
    expect("/" in wire.stream_type, wire.stream_type)


@law(
    "declared/grammar",
    "there is no grammar, or it takes anything",
    "declare words and a pattern that a stream of rubbish does not match",
    has_client,
)
def grammar(harness: FormatHarness) -> None:
    facts = harness.wire.grammar
    assert facts is not None, "a client side needs a grammar"
    members = " ".join([*facts.words(b"no frame at all \xff"), ""])

    expect(re.fullmatch(facts.pattern, members) is None, members)


@law(
    "declared/keep-alive",
    "a keep-alive frame is no whole frame",
    "let it end as the frames of your streams do",
    lambda wire: wire.keep_alive is not None,
)
def keep_alive(harness: FormatHarness) -> None:
    facts = harness.wire.keep_alive
    assert facts is not None
    expect(harness.is_whole(facts.frame) or facts.frame.isspace(), facts.frame)
    expect(facts.every is None or facts.every > 0, facts.every)


@law(
    "declared/paths",
    "a vendor's path cannot follow a base URL",
    "begin it with a slash, and name the model in it where the body does not",
    has_vendor,
)
def paths(harness: FormatHarness) -> None:
    for stream in (False, True):
        path = harness.vendor.path("kit-model", stream)
        expect(path.startswith("/") and " " not in path, path)
        expect(harness.wire.model_in_body or "kit-model" in path, path)


@law(
    "endpoints/read",
    "an endpoint does not find the model or the wish for a stream",
    "read them from the path, the headers or the body's members, as your clients send them",
    lambda wire: has_both(wire) and has_endpoints(wire),
)
def endpoints_read(harness: FormatHarness) -> None:
    for endpoint in harness.wire.endpoints:
        for request in harness.requests:
            named = {"model": "kit-path-model"} if "{model}" in endpoint.path else {}
            intake = endpoint.read(named, {}, members_of(request))
            if named or "model" in members_of(request):
                expect_equal(
                    intake.model,
                    named.get("model") or harness.read_request(request).model,
                    "model:",
                )
        for stream in (True, False):
            if "{model}" not in endpoint.path:
                body, _ = harness.write_request(
                    replace(harness.for_target(sample_values.PLAIN), stream=stream)
                )
                expect_equal(endpoint.read({}, {}, members_of(body)).stream, stream, "stream:")


@law(
    "endpoints/paths",
    "an endpoint's path is not one",
    "begin it with a slash, and declare each path once",
    has_endpoints,
)
def endpoint_paths(harness: FormatHarness) -> None:
    facts = [endpoint.path for endpoint in harness.wire.endpoints]
    expect(all(path.startswith("/") for path in facts), facts)
    expect_equal(len(set(facts)), len(facts), "paths:")


@law(
    "endpoints/rubbish",
    "an endpoint raises something else than BadRequest",
    "check what you read, and raise BadRequest, which names the member",
    has_endpoints,
)
def endpoints_take_anything(harness: FormatHarness) -> None:
    names = ("model", "stream", "messages", "input", "contents", "prompt")
    raws = st.sampled_from(_RAWS[:-1]).map(Raw)
    members = st.dictionaries(st.sampled_from(names), raws)

    def check(members: Mapping[str, Raw]) -> None:
        for endpoint in harness.wire.endpoints:
            try:
                intake = endpoint.read({"model": "m"}, {}, members)
            except BadRequest:
                continue
            expect(isinstance(intake, Intake), intake)

    check_each(harness, members, check)


@law(
    "counting/estimates",
    "an estimate of tokens is negative, or less for more words, or no JSON",
    "count characters with gateway_formats.estimate and encode the whole answer's body",
    lambda wire: has_both(wire) and has_counting(wire),
)
def estimates(harness: FormatHarness) -> None:
    for counting in counting_of(harness):
        expect(counting.path("m").startswith("/"), counting.path("m"))
        for request in harness.requests:
            few = numbers_in(counting.estimate(request))
            more = numbers_in(counting.estimate(request.replace(b"a question", b"a word " * 99)))
            expect(bool(few) and min(few) >= 0, few)
            expect(sum(more) >= sum(few), few, more)


@law(
    "counting/rubbish",
    "estimating rubbish raises something else than BadRequest",
    "count what makes no sense as nothing, or raise BadRequest",
    has_counting,
)
def estimates_of_rubbish(harness: FormatHarness) -> None:
    for counting in counting_of(harness):
        for body in (b"", b"{", b"[]", b"null", b'{"messages":7}', b"\xff"):
            try:
                counting.estimate(body)
            except BadRequest:
                continue


@law(
    "code/public-door",
    "the format takes something private from the kernel",
    "import only from gateway_core itself, not from the modules inside it",
    always,
)
def public_door(harness: FormatHarness) -> None:
    public = {id(getattr(gateway_core, name)) for name in gateway_core.__all__}
    for module in format_modules.modules_of(harness.wire):
        taken = {name: value for name, value in vars(module).items() if _is_kernels(value)}
        private = sorted(name for name, value in taken.items() if id(value) not in public)
        expect(not private, f"{module.__name__} holds {private}")


@law(
    "code/pure",
    "the format does more than turn values into values",
    "leave network, files, processes, threads and clocks to the gateway, and do nothing at import",
    always,
)
def pure(harness: FormatHarness) -> None:
    for module in format_modules.modules_of(harness.wire):
        doors = sorted(
            name for name, value in vars(module).items() if format_modules.is_side_effect(value)
        )
        expect(not doors, f"{module.__name__} holds {doors}")


def _is_kernels(value: object) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__.startswith("gateway_core.")
    if not isinstance(value, type | FunctionType):
        return False
    return str(value.__module__).startswith("gateway_core.")


def counting_of(harness: FormatHarness) -> list[Counting]:
    return [
        check_each.counting
        for check_each in harness.wire.endpoints
        if check_each.counting is not None
    ]


def numbers_in(body: bytes) -> list[int]:
    return list(_found(_JSON.decode(body)))


def _found(value: Any) -> Iterator[int]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _found(inner)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


LAWS: tuple[Law, ...] = (
    facts,
    grammar,
    keep_alive,
    paths,
    endpoints_read,
    endpoint_paths,
    endpoints_take_anything,
    estimates,
    estimates_of_rubbish,
    public_door,
    pure,
)
