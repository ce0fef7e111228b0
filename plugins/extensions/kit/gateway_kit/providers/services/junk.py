"""Cases about malformed answers with status 200: none of them raises."""

from collections.abc import Iterator, Mapping

from gateway_core import TransportError
from gateway_kit.case import Case, CaseFailed, expect

from ..harness import ProviderHarness
from ..service_samples import JSON
from .service_call import ServiceCall, feed_all

NOT_JSON: Mapping[str, bytes] = {
    "nothing at all": b"",
    "a page": b"<html><head><title>502 Bad Gateway</title></head></html>",
    "bytes that are no text": b"\xff\xfe\x00\x80",
}
CRASHED = "The model crashed"
ODD_JSON: Mapping[str, bytes] = {
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "an empty object": b"{}",
    "null members": b'{"data":null,"results":null,"usage":null,"text":null,"error":null}',
    "members of other kinds": b'{"data":7,"results":"x","usage":[],"text":{},"pages":false}',
    "lists of other kinds": b'{"data":[null,7],"results":[[],"x"],"usage":{"prompt_tokens":"x"}}',
    "an error": b'{"error":{"message":"The model crashed","type":"server_error"}}',
    "great depth": b'{"data":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
}


def junk_cases(call: ServiceCall) -> Iterator[Case]:
    sample = call.sample

    async def quiet(harness: ProviderHarness) -> None:
        for about, body in {**NOT_JSON, **ODD_JSON}.items():
            _carry(call, body, about)

    async def unfinished(harness: ProviderHarness) -> None:
        for at in range(0, len(sample.reply) - 1, max(1, len(sample.reply) // 16)):
            _expect_failure(call, sample.reply[:at], f"the first {at} bytes of an answer")
        for about, body in {**NOT_JSON, "an error": ODD_JSON["an error"]}.items():
            _expect_failure(call, body, about)
        failure = feed_all(call.answering(), (ODD_JSON["an error"],), JSON).exchange.failure
        expect(
            failure is not None and CRASHED in failure.message,
            f"the words of an error in an answer are lost: {failure and failure.message!r}",
        )

    async def breaks_off(harness: ProviderHarness) -> None:
        exchange = call.answering()
        exchange.read_head({"content-type": sample.reply_type})
        exchange.feed(sample.reply[: len(sample.reply) // 2])
        exchange.fail(TransportError("The vendor broke off"))
        expect(exchange.failure is not None, "after fail() the exchange knows no failure")

    yield call.case(
        "odd answers",
        "Never raise for what a vendor sent: put an UpstreamError into failure.",
        quiet,
    )
    if sample.is_json:
        yield call.case(
            "no answer",
            "Put an UpstreamError into failure when an answer is broken.",
            unfinished,
        )
    yield call.case(
        "broken off", "Keep the error that fail() is given as the exchange's failure.", breaks_off
    )


def _carry(call: ServiceCall, body: bytes, about: str) -> bool:
    """Whether it is taken for a failure. Raises CaseFailed."""
    try:
        halves = body[: len(body) // 2], body[len(body) // 2 :]
        if call.sample.before:  # the first answer of a job may be as odd as the last
            feed_all(call.open(), halves, JSON)
        result = feed_all(call.answering(), halves, call.sample.reply_type)
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        raise CaseFailed(f"{about}: {type(error).__name__}: {error}") from error
    return result.exchange.failure is not None


def _expect_failure(call: ServiceCall, body: bytes, about: str) -> None:
    expect(_carry(call, body, about), f"{about}: it passes for a whole answer")
