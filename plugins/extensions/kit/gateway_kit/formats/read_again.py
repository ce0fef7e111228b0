"""Laws of bodies that clients send, each changed as any client may change it.

The bodies are the author's, recorded or written by the format itself, so that these laws need no
knowledge of what a format calls its members.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    Answered,
    BadRequest,
    Conversation,
    Intake,
    Kind,
    Text,
    WireFormat,
    seal,
    seal_base64,
)

from .asked import ASKED, SAMPLED, is_only_asked
from .case import Law, expect, expect_equal, has_client, law
from .declarations import counting_of, has_endpoints, numbers_in
from .harness import PROVIDER, FormatHarness, members_of
from .marks import JPEG
from .sample_values import MANY_BYTES, SIGNATURE

WORDS = "a question"
TEXTS = (
    MANY_BYTES,
    "  spaces\taround \n",
    'quotes " and \\ and {"json": [1]} and </tags>',
    "\N{MUSICAL SYMBOL G CLEF} \N{COMBINING ACUTE ACCENT}e \x7f",
    "long " * 4000,
)
MODELS = ("Vendor/Large-1.5", "lower_case", "UPPER")
ODD: tuple[Any, ...] = (None, 7, -1.5, "", "word", [], {}, True, [[]], [None], {"": None}, [7])
BROKEN = (b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"a":"\xff"}', b"[" * 20_000)
DEEP = 3000
MANY = 60
"""How often two turns are repeated."""
Path = tuple[str | int, ...]


def _bodies(harness: FormatHarness) -> list[Any]:
    found = [_decode(body) for body in harness.requests]
    return [body for body in found if isinstance(body, dict)]


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a body that is not the body itself, with where it is."""
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, inner in members:
        yield (*path, key), inner
        yield from _leaves(inner, (*path, key))


def _put(value: Any, path: Path, new: Any) -> Any:
    """A copy with another value at a place."""
    if not path:
        return new
    key, *rest = path
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = _put(value[key], tuple(rest), new)
    return copy


def _replace(value: Any, old: Any, new: Any) -> Any:
    """A copy with another value wherever the old one is."""
    for path, leaf in list(_leaves(value)):
        if type(leaf) is type(old) and leaf == old:
            value = _put(value, path, new)
    return value


def _read(harness: FormatHarness, body: Any) -> Conversation | None:
    """``None`` where the format refuses the body."""
    try:
        return harness.read_request(msgspec.json.encode(body))
    except BadRequest:
        return None


def _texts(conversation: Conversation) -> list[str]:
    parts = (part for turn in conversation.turns for part in turn.parts)
    return [part.text for part in parts if isinstance(part, Text)]


@law(
    "requests/words",
    "a client's words are not read as they were written",
    "take each text as it is: with its white space, its letters and its length",
    has_client,
)
def words(harness: FormatHarness) -> None:
    for body in _bodies(harness):
        if not any(leaf == WORDS for _, leaf in _leaves(body)):
            continue
        for text in TEXTS:
            read = _read(harness, _replace(body, WORDS, text))
            expect(read is not None, f"refused: {text[:60]!r}")
            expect(read is None or text in _texts(read), f"wanted {text[:200]!r}", read)
        return


@law(
    "requests/long-history",
    "turns of a long history are lost or change places",
    "read each turn, however many there are and whether it was said before",
    is_only_asked,
)
def long_history(harness: FormatHarness) -> None:
    body, short = harness.bodies.get("earlier turns"), harness.bodies.get("question")
    if body is None or short is None:
        return
    for path, turns in _leaves(dict(body)):
        if isinstance(turns, list) and len(turns) == 3:
            long = _put(dict(body), path, turns[:2] * MANY + turns[2:])
            read = _read(harness, long)
            expected = ["a question", "an answer"] * MANY + ["why"]
            if read is not None:
                expect_equal(_texts(read), expected, f"{len(expected)} turns:")
            return


@law(
    "requests/read-twice",
    "a body reads differently the second time, or after other bodies",
    "keep nothing of a call, and change neither the call nor what it holds",
    has_client,
)
def read_twice(harness: FormatHarness) -> None:
    def read(body: bytes) -> bytes:
        call = harness.call(body)
        before = dict(call.members)
        try:
            found = msgspec.json.encode(harness.client.read_request(call))
        except (BadRequest, Answered) as refusal:
            found = str(refusal).encode()
        expect_equal(dict(call.members), before, "the call's members:")
        return found

    bodies = list(harness.requests)
    first = [read(body) for body in bodies]
    expect_equal([read(body) for body in reversed(bodies)][::-1], first)


@law(
    "requests/model-and-dialect",
    "a conversation does not say which model is asked, or whose members it holds",
    "set model to the client's name of it and dialect to the format's own",
    is_only_asked,
)
def model_and_dialect(harness: FormatHarness) -> None:
    body = harness.bodies.get("question")
    if body is not None:
        read = harness.read_request(msgspec.json.encode({**body, "model": "kit-model"}))
        expect_equal((read.model, read.dialect), ("kit-model", harness.wire.dialect))


@law(
    "requests/zero",
    "a number that is 0, or below, is taken for none",
    "compare with None: 0 is a value",
    is_only_asked,
)
def zero(harness: FormatHarness) -> None:
    for name, usual in SAMPLED.items():
        body = harness.bodies.get(name)
        if body is None or not isinstance(usual, float | int) or name in ("max_tokens", "top_k"):
            continue
        values = (0.0, -usual) if name.endswith("penalty") else (type(usual)(0),)
        for value in values:
            read = _read(harness, _replace(dict(body), usual, value))
            if read is not None:
                expect_equal(getattr(read.sampling, name), value, f"{name}:")


@law(
    "requests/together",
    "things that are asked for together get in one another's way",
    "read each member whatever else is there",
    is_only_asked,
)
def together(harness: FormatHarness) -> None:
    merged: Any = dict(harness.bodies.get("question") or {})
    names = []
    for name in (*SAMPLED, "system texts", "tools", "user", "output schema", "unknown member"):
        body = harness.bodies.get(name)
        whole = body and _merge(merged, dict(body), dict(harness.bodies.get("question") or {}))
        if whole:
            merged = whole
            names.append(name)
    read = _read(harness, merged)
    if read is None:
        return
    for name in names:
        wanted = ASKED[name]
        if name in SAMPLED:
            expect_equal(getattr(read.sampling, name), getattr(wanted.sampling, name), f"{name}:")
    if "system texts" in names:
        said = [part.text for part in read.instructions]
        expect_equal(said, ["Be brief.", "Be kind."], "system texts:")
    if "tools" in names:
        expect_equal([tool.name for tool in read.tools], ["look", "ask_time"], "tools:")
    expect("user" not in names or read.user == "user-1", "user:", read.user)
    expect("output schema" not in names or read.output is not None, "the schema is lost")
    expect("unknown member" not in names or "kit_unknown" in read.extra, "extra:", read.extra)


def _merge(one: Any, other: Any, plain: Any) -> Any:
    """Both bodies in one; ``None`` where they differ from the plain one at the same place."""
    merged = dict(one)
    for key, value in other.items():
        usual = plain.get(key) if isinstance(plain, dict) else None
        if value == usual or merged.get(key) == value:
            continue
        if key not in merged or merged[key] == usual:
            merged[key] = value
        elif isinstance(merged[key], dict) and isinstance(value, dict):
            inner = _merge(merged[key], value, usual or {})
            if inner is None:
                return None
            merged[key] = inner
        else:
            return None
    return merged


@law(
    "requests/odd-values",
    "a value of another type raises something else than BadRequest",
    "check what you read, at any depth, and raise BadRequest, which names the member",
    has_client,
)
def odd_values(harness: FormatHarness) -> None:
    for body in BROKEN:
        _is_read_or_refused(harness, body)
    for whole in _bodies(harness):
        body = msgspec.json.encode(whole)
        _is_read_or_refused(harness, body.replace(WORDS.encode(), b"\xff\xfe"))
        for path, _ in list(_leaves(whole))[:60]:
            marked = msgspec.json.encode(_put(whole, path, "kit-here4711"))
            for broken in (b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP):
                _is_read_or_refused(harness, marked.replace(b'"kit-here4711"', broken))
        for path, _ in list(_leaves(whole))[:60]:
            for odd in ODD:
                _is_read_or_refused(harness, msgspec.json.encode(_put(whole, path, odd)))


def _is_read_or_refused(harness: FormatHarness, body: bytes) -> None:
    try:
        read = harness.read_request(body)
    except (BadRequest, Answered):
        return
    except Exception as error:
        expect(False, f"{type(error).__name__} for", body[:300])
    else:
        expect(isinstance(read, Conversation), read)


@law(
    "requests/nothing-asked",
    "a request that holds nothing to answer is sent to a vendor",
    "raise BadRequest, which names the member that is missing",
    is_only_asked,
)
def nothing_asked(harness: FormatHarness) -> None:
    body, longer = harness.bodies.get("question"), harness.bodies.get("earlier turns")
    if body is None or longer is None:
        return
    for path, turns in _leaves(dict(longer)):
        if isinstance(turns, list) and len(turns) == 3:
            read = _read(harness, _put(dict(longer), path, []))
            expect(read is None or bool(read.turns), "no turns:", read)
            return


def _chat_endpoints(wire: WireFormat) -> list[Any]:
    return [each for each in wire.endpoints if each.kind == Kind.LLM and each.counting is None]


@law(
    "endpoints/models",
    "an endpoint changes the name of the model",
    "give it as it stands in the path or the body; the gateway resolves it",
    lambda wire: has_client(wire) and has_endpoints(wire),
)
def models(harness: FormatHarness) -> None:
    for endpoint in _chat_endpoints(harness.wire):
        for model in MODELS:
            for body in _bodies(harness)[:1]:
                named = {"model": model} if "{model}" in endpoint.path else {}
                whole = {**body, "model": model}
                intake = endpoint.read(named, {}, members_of(msgspec.json.encode(whole)))
                expect_equal(intake.model, model, "model:")


@law(
    "endpoints/agree",
    "an endpoint and the reader of requests understand one body differently",
    "take the wish for a stream by the same rule in both, and refuse what is no flag",
    is_only_asked,
)
def agree(harness: FormatHarness) -> None:
    body, plain = harness.bodies.get("stream"), harness.bodies.get("question")
    if body is None or plain is None:
        return
    changed = [path for path, leaf in _leaves(dict(body)) if (path, leaf) not in _pairs(plain)]
    for path in changed:
        for odd in (*ODD, "false", "true", 0, 1):
            whole = msgspec.json.encode(_put(dict(body), path, odd))
            for endpoint in _chat_endpoints(harness.wire):
                intake = _intake(endpoint, members_of(whole))
                if intake is None:
                    continue
                is_wrong = isinstance(odd, str) and intake.stream
                expect(not is_wrong, f"{path[-1]} is {odd!r}, and a stream is wanted")
                with suppress(BadRequest, Answered):
                    call = harness.call(whole, stream=intake.stream)
                    read = harness.client.read_request(call)
                    expect_equal(intake.stream, read.stream, f"{path[-1]} is {odd!r}:")


def _pairs(value: Any) -> list[tuple[Path, Any]]:
    return list(_leaves(dict(value)))


def _intake(endpoint: Any, members: Mapping[str, Raw]) -> Intake | None:
    try:
        found: Intake = endpoint.read({"model": "m"}, {}, members)
    except BadRequest:
        return None
    return found


@law(
    "endpoints/addresses",
    "an address that a vendor is asked to fetch is not told, so that nobody checks it",
    "give every address of media in Intake.urls, those in tool results too",
    lambda wire: has_client(wire) and has_endpoints(wire),
)
def addresses(harness: FormatHarness) -> None:
    for body in harness.requests:
        try:
            read = harness.read_request(body)
        except (BadRequest, Answered):
            continue
        media = [part for turn in read.turns for part in turn.parts]
        inner = [each for part in media for each in getattr(part, "content", ())]
        urls = {url for part in (*media, *inner) if (url := getattr(part, "url", None))}
        for endpoint in _chat_endpoints(harness.wire):
            intake = _intake(endpoint, members_of(body))
            told = set(intake.urls) if intake is not None else urls
            expect(all(url in told or not url.startswith("http") for url in urls), urls, told)


@law(
    "requests/sealed",
    "a signature that comes back sealed is not opened",
    "unseal it into the part's signature and origin",
    is_only_asked,
)
def sealed(harness: FormatHarness) -> None:
    body = harness.bodies.get("signed thinking")
    if body is None:
        return
    for close in (seal, seal_base64):
        read = _read(harness, _replace(dict(body), SIGNATURE, close(PROVIDER, SIGNATURE)))
        parts = [part for turn in (read.turns if read else ()) for part in turn.parts]
        if any(part.signature == SIGNATURE and part.origin == PROVIDER for part in parts):
            return
    expect(False, "neither seal nor seal_base64 is opened", body)


def _has_estimates(wire: WireFormat) -> bool:
    return is_only_asked(wire) and any(endpoint.counting for endpoint in wire.endpoints)


@law(
    "counting/of-bodies",
    "an estimate of tokens leaves something out, or counts what are no words",
    "count instructions, tools and texts with gateway_formats.estimate, and no bytes of media",
    _has_estimates,
)
def counted(harness: FormatHarness) -> None:
    for counting in counting_of(harness):
        estimate = counting.estimate

        def count(body: Any, estimate: Callable[[bytes], bytes] = estimate) -> int:
            found = numbers_in(estimate(msgspec.json.encode(body)))
            expect(bool(found) and min(found) >= 0, "no number:", found)
            return sum(found)

        plain = dict(harness.bodies.get("question") or {})
        least = count(plain)
        expect(count(_replace(plain, WORDS, "a word " * 99)) > least, "more words count the same")
        for name in ("system texts", "tools", "earlier turns"):
            body = harness.bodies.get(name)
            expect(body is None or count(body) > least, f"{name} count nothing")
        image = harness.bodies.get("image")
        if image is not None:
            grown = count(_replace(dict(image), JPEG, JPEG * 50)) - count(image)
            expect(grown < len(JPEG), "bytes of a picture are counted as words:", grown)


LAWS: tuple[Law, ...] = (
    words,
    long_history,
    read_twice,
    model_and_dialect,
    zero,
    together,
    odd_values,
    nothing_asked,
    models,
    agree,
    addresses,
    sealed,
    counted,
)
