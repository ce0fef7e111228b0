"""Laws of errors: an error stays the error it was."""

from collections.abc import Mapping

import msgspec
from hypothesis import strategies as st

from gateway_core import BadRequest, GatewayError, ReplyFailed, UpstreamError

from .case import Law, check_each, expect, expect_equal, has_both, has_client, has_vendor, law
from .harness import FormatHarness
from .strategies import rubbish

REQUEST_ID = "req-kit-4711"
WORDS = "out of luck4711"
KIND = "kit_kind4711"
STATUSES = (400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 529)
HEADERS: Mapping[str, str] = {"retry-after": "7", "content-type": "application/json"}


def conditions() -> tuple[GatewayError, ...]:
    vendors = (UpstreamError(WORDS, status=status) for status in STATUSES)
    return (BadRequest(WORDS), GatewayError(WORDS), *vendors)


@law(
    "errors/written",
    "an error body is not JSON, or does not hold the message",
    "write the error's message where clients of your dialect look for it",
    has_client,
)
def written(bench: FormatHarness) -> None:
    for error in conditions():
        body = bench.client.write_error(error, REQUEST_ID)
        expect(isinstance(msgspec.json.decode(body), dict | list) and WORDS.encode() in body, body)


@law(
    "errors/status",
    "an error that was written is read with another status or other words",
    "pass the status on to UpstreamError and take the message from your dialect's own place",
    has_both,
)
def statuses(bench: FormatHarness) -> None:
    for error in conditions():
        body = bench.client.write_error(error, REQUEST_ID)
        parsed = bench.vendor.read_error(error.status, HEADERS, body)
        expect_equal((parsed.status, WORDS in parsed.message), (error.status, True), parsed.message)


@law(
    "errors/status-of-the-answer",
    "a vendor's error loses its status",
    "pass the status of the answer on to UpstreamError, whatever the body is",
    has_vendor,
)
def status_of_the_answer(bench: FormatHarness) -> None:
    for body in (b"", b"{}", b"<html>no</html>"):
        for status in STATUSES:
            error = bench.vendor.read_error(status, {}, body)
            expect_equal(error.status, status, "status:")
            expect(bool(error.message), "an error without words")


@law(
    "errors/retry-after",
    "a vendor's Retry-After is lost",
    "take it with gateway_formats.hints.retry_after(headers)",
    has_vendor,
)
def retry_after(bench: FormatHarness) -> None:
    for value, expected in (("7", 7.0), ("1.5", 1.5), ("soon", None)):
        error = bench.vendor.read_error(429, {"retry-after": value}, b"{}")
        expect_equal(error.retry_after, expected, f"Retry-After {value}:")


@law(
    "errors/kind",
    "the vendor's word for a condition is lost between two ends of one dialect",
    "read it into UpstreamError.kind and write that one before your own word",
    has_both,
)
def kinds(bench: FormatHarness) -> None:
    for status in STATUSES:
        error = UpstreamError(WORDS, status=status)
        body = bench.client.write_error(error, REQUEST_ID)
        first = bench.vendor.read_error(status, {}, body)
        body = bench.client.write_error(first, REQUEST_ID)
        second = bench.vendor.read_error(status, {}, body)
        expect_equal(
            (second.kind, second.code, second.message), (first.kind, first.code, first.message)
        )
        body = bench.client.write_error(UpstreamError(WORDS, status=status, kind=KIND), REQUEST_ID)
        if KIND.encode() in body:
            expect_equal(bench.vendor.read_error(status, {}, body).kind, KIND, "kind:")


@law(
    "errors/words-for-conditions",
    "error bodies have a word for the condition that is never read",
    "read that word into UpstreamError.kind",
    has_both,
)
def words_for_conditions(bench: FormatHarness) -> None:
    errors = [UpstreamError(WORDS, status=status) for status in STATUSES]
    bodies = [bench.client.write_error(error, REQUEST_ID) for error in errors]
    kinds = {bench.vendor.read_error(400, {}, body).kind for body in bodies}

    expect(len(set(bodies)) == 1 or kinds != {None}, bodies[0])


@law(
    "errors/inside-a-200",
    "an error that comes with status 200 passes for an answer",
    "look for your dialect's error object before the answer, and raise UpstreamError",
    has_both,
)
def inside_a_200(bench: FormatHarness) -> None:
    body = bench.client.write_error(UpstreamError(WORDS, status=503), REQUEST_ID)
    try:
        reply = bench.vendor.read_reply(body)
    except UpstreamError as error:
        expect(WORDS in error.message, error.message)
    else:
        expect(False, reply)


@law(
    "errors/late",
    "an error in a stream that has shown nothing is no whole frame, or not read as a failure",
    "let late_error frame an error body as streams of your dialect end with one",
    has_both,
)
def late(bench: FormatHarness) -> None:
    body = bench.client.write_error(UpstreamError(WORDS, status=503), REQUEST_ID)
    stream = bench.wire.late_error(body)
    events = bench.read_stream(stream)

    expect(bench.is_whole(stream), stream)
    expect(isinstance(events[-1], ReplyFailed) and WORDS in events[-1].message, events)


@law(
    "errors/recorded",
    "a recorded error turns from a refusal into a failure, or the other way",
    "pass the status on to UpstreamError and take the message from your dialect's own place",
    has_vendor,
)
def recorded(bench: FormatHarness) -> None:
    for error in bench.samples.errors:
        parsed = bench.vendor.read_error(error.status, error.headers, error.body)
        # A format may know better than 400, such as 401 for a key that is not valid.
        expect_equal(parsed.status // 100, error.status // 100, "hundreds of the status:")
        expect(bool(parsed.message), error.body)


@law(
    "errors/rubbish",
    "an error body that makes no sense raises",
    "let read_error give an UpstreamError for any bytes",
    has_vendor,
)
def bodies_of_rubbish(bench: FormatHarness) -> None:
    headers = st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date", "x-request-id"]),
        st.sampled_from(["", "-1", "nan", "1e400", "Mon, 99 Foo", "\u00e9"]),
    )

    def check(example: tuple[bytes, dict[str, str]]) -> None:
        body, value = example
        error = bench.vendor.read_error(500, value, body)
        expect(error.retry_after is None or 0 <= error.retry_after < 1e12, error.retry_after)

    check_each(bench, st.tuples(rubbish, headers), check)


LAWS: tuple[Law, ...] = (
    written,
    statuses,
    status_of_the_answer,
    retry_after,
    kinds,
    words_for_conditions,
    inside_a_200,
    late,
    recorded,
    bodies_of_rubbish,
)
