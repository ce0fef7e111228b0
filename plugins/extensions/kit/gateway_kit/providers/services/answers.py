"""Cases about what a service makes of its vendor's answer, whole and torn anywhere."""

import re
from collections.abc import Iterator

import msgspec

from gateway_kit.case import Case, CaseFailed, expect

from ..harness import ProviderHarness
from .service_call import ServiceCall, ServiceResult, feed_all

MOST_CUTS = 2_000
_CREATED = re.compile(rb'"created":\d+')
"""When an answer was made, which is another second for another exchange."""
OWN_SAMPLE = "A vendor that answers otherwise than most needs a sample of its own (samples=...)."


def answer_cases(call: ServiceCall) -> Iterator[Case]:
    sample = call.sample

    async def shows_content(harness: ProviderHarness) -> None:
        result = whole(call)
        at = 0
        for word in sample.shown:
            place = result.body.find(word, at)
            expect(place >= 0, f"the client is not told {word!r}: {result.body[:200]!r}")
            at = place + len(word)
        if "json" in result.exchange.media_type:
            body = result.body
            try:
                msgspec.json.decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise CaseFailed(
                    f"the media type is JSON and the answer is not: {body[:200]!r}"
                ) from None

    async def counts(harness: ProviderHarness) -> None:
        usage = whole(call).exchange.usage
        expected = sample.usage
        message = f"the usage is {usage} and should be {expected}"
        if expected is None:
            # Units that the vendor need not report (characters, pictures) may be counted.
            expect(usage is None or not (usage.input_tokens or usage.output_tokens), message)
            return
        if usage is None:
            raise CaseFailed(message)
        for name in ("input_tokens", "output_tokens", "cached_tokens"):
            expect(getattr(usage, name) == getattr(expected, name), message)
        expect(not usage.estimated, message)

    yield call.case("answer", f"Hand on all that the vendor says. {OWN_SAMPLE}", shows_content)
    yield call.case(
        "usage",
        "Report what the vendor reports, once, and None where it reports nothing.",
        counts,
    )


def torn_answer_cases(call: ServiceCall) -> Iterator[Case]:
    reply = call.sample.reply

    async def every_cut(harness: ProviderHarness) -> None:
        expected = whole(call)
        for at in range(1, min(len(reply), MOST_CUTS)):
            _expect_same(call, (reply[:at], reply[at:]), expected, f"cut at byte {at}")

    async def crumbs(harness: ProviderHarness) -> None:
        pieces = tuple(reply[at : at + 1] for at in range(len(reply)))
        _expect_same(call, pieces, whole(call), "in single bytes")

    async def apart(harness: ProviderHarness) -> None:
        expected = whole(call)
        first, second = call.answering(), call.answering()
        for each in (first, second):
            each.read_head({"content-type": call.sample.reply_type})
        middle = len(reply) // 2
        parts = [first.feed(reply[:middle]), second.feed(reply[:middle])]
        parts = [parts[0] + first.feed(reply[middle:]), parts[1] + second.feed(reply[middle:])]
        for exchange, first_part in zip((first, second), parts, strict=True):
            body = first_part + exchange.close()
            expect(_same(body, expected.body), f"two at a time, one of them says {body[:200]!r}")

    advice = "Hold what is unfinished until the rest of it has come."
    yield call.case("every cut", advice, every_cut)
    yield call.case("crumbs", advice, crumbs)
    yield call.case("two at a time", "Keep what one answer says in its own exchange.", apart)


def whole(call: ServiceCall) -> ServiceResult:
    """The vendor's answer in one piece. Raises CaseFailed when it is taken for a failure."""
    result = feed_all(call.answering(), (call.sample.reply,), call.sample.reply_type)
    failure = result.exchange.failure
    if failure is not None:
        raise CaseFailed(f"a sound answer is a failure: {failure.message}")
    expect(result.exchange.media_type, "the exchange has no media_type")
    return result


def _expect_same(
    call: ServiceCall, pieces: tuple[bytes, ...], expected: ServiceResult, how: str
) -> None:
    result = feed_all(call.answering(), pieces, call.sample.reply_type)
    expect(result.exchange.failure is None, f"{how}, the answer is a failure")
    expect(_same(result.body, expected.body), f"{how}, the answer says {result.body[:200]!r}")
    same = result.exchange.usage == expected.exchange.usage
    expect(same, f"{how}, the usage is {result.exchange.usage}")


def _same(first: bytes, second: bytes) -> bool:
    return _CREATED.sub(b"", first) == _CREATED.sub(b"", second)
