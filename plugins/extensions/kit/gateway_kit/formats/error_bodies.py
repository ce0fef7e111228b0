"""Laws of error bodies, as clients see them: what they have a member for is told and is right.

A member counts by its name, since nobody reads the errors of a format without a vendor side.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gateway_core import BadRequest, GatewayError, UpstreamError, WireFormat
from gateway_formats.grammar import find_violation

from .agreement import strings_of
from .case import Law, expect, has_client, law
from .errors import KIND, REQUEST_ID, STATUSES, WORDS
from .harness import FormatHarness

MESSAGES = (
    'quotes " and \\ and {"json": [1]}',
    "né 日本語 🦓 and a line\nbreak",
    "a long message " * 20 + "with its end4711",
)
PLACE = "kit.member[4711].text"
CODE = "kit_code4711"
WAIT = 4711.0


def _members(body: bytes) -> Iterator[tuple[str, Any]]:
    """Every member of an error body, at any depth."""

    def walk(value: object) -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield str(key), inner
                yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    yield from walk(msgspec.json.decode(body))


def _named(body: bytes, pattern: str) -> list[Any]:
    return [value for key, value in _members(body) if re.fullmatch(pattern, key)]


def _write(harness: FormatHarness, error: GatewayError) -> bytes:
    return harness.client.write_error(error, REQUEST_ID)


@law(
    "errors/exact-words",
    "an error's message is cut, escaped twice or changed",
    "write it as it is: the gateway has made it safe to show",
    has_client,
)
def exact_words(harness: FormatHarness) -> None:
    for message in MESSAGES:
        for error in (BadRequest(message), UpstreamError(message, status=503)):
            body = _write(harness, error)
            said = strings_of([msgspec.json.decode(body)]).values()
            expect(any(message in each for each in said), f"wanted {message!r}", body)


@law(
    "errors/members",
    "a member of an error body is empty or wrong, though the error says what belongs there",
    "write status, code, param, the wait and the request's id from the error itself",
    has_client,
)
def members(harness: FormatHarness) -> None:
    for status in STATUSES:
        body = _write(harness, UpstreamError(WORDS, status=status))
        told = [each for each in _named(body, r"(?i).*status") if type(each) is int]
        expect(set(told) <= {status}, f"status of {status}: {told}", body)
    body = _write(harness, BadRequest(WORDS, param=PLACE, code=CODE))
    place = _named(body, "param")
    expect(not place or PLACE in place, f"param: {place}", body)
    code = [each for each in _named(body, "code") if each is None or isinstance(each, str)]
    expect(not code or CODE in code, f"code: {code}", body)
    own = _named(body, r"(?i)request_?id")
    expect(not own or REQUEST_ID in own, f"the request's id: {own}", body)
    body = _write(harness, UpstreamError(WORDS, status=429, retry_after=WAIT))
    wait = _named(body, r"(?i)wait.*|retry.?(after|in).*")
    expect(not wait or any(str(int(WAIT)) in str(each) for each in wait), f"wait: {wait}", body)


@law(
    "errors/vendors-word",
    "the vendor's word for a condition is replaced in some places only",
    "write UpstreamError.kind, and ReplyFailed.kind in streams, before your own word",
    has_client,
)
def vendors_word(harness: FormatHarness) -> None:
    words = {
        kind: _named(_write(harness, UpstreamError(WORDS, status=503, kind=kind)), "type|kind|word")
        for kind in (None, KIND)
    }
    if len(words[None]) == 1 and isinstance(words[None][0], str):
        expect(words[KIND] == [KIND], f"wanted {KIND}: {words[KIND]}")


def _is_alone(wire: WireFormat) -> bool:
    return wire.client is not None and wire.vendor is None


@law(
    "errors/late-frame",
    "an error in a stream that has shown nothing is no whole frame, or breaks the grammar",
    "let late_error frame an error body as streams of your dialect end with one",
    _is_alone,
)
def late_frame(harness: FormatHarness) -> None:
    wire = harness.wire
    stream = wire.late_error(_write(harness, UpstreamError(WORDS, status=503)))
    expect(harness.is_whole(stream) and WORDS.encode() in stream, stream)
    if wire.grammar is not None:
        violation = find_violation(wire.grammar, stream)
        expect(violation is None, violation, stream)


@law(
    "declared/spelling",
    "the trailer of a stream is no whole frame, or does not name what was dropped",
    "frame the names that it is called with",
    lambda wire: has_client(wire) and wire.trailer is not None,
)
def trailer(harness: FormatHarness) -> None:
    assert harness.wire.trailer is not None
    frame = harness.wire.trailer(b"kit_one, kit_two")
    expect(harness.is_whole(frame) and b"kit_one" in frame and b"kit_two" in frame, frame)


LAWS: tuple[Law, ...] = (exact_words, members, vendors_word, late_frame, trailer)
