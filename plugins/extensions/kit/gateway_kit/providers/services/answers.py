"""Cases about what a service makes of its vendor's answer, whole and torn anywhere."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from gateway_core import Kind
from gateway_kit.case import Case, CaseFailed, expect, expect_none

from ..harness import ProviderHarness
from .service_call import CREATED, ServiceCall, ServiceResult, feed_all
from .traces import leaves

MOST_CUTS = 2_000
_TYPES = {
    b"RIFF": ("wav", "webp", "octet-stream"),
    b"\xff\xf3": ("mpeg", "mp3", "octet-stream"),
    b"ID3": ("mpeg", "mp3", "octet-stream"),
    b"\x89PNG": ("png", "octet-stream"),
}
"""What bytes begin with, and the types that they may have."""
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
        expect_none(type_faults(call, result))
        expect_none(lost_leaves(call, result.body))
        if "json" in result.exchange.media_type:
            body = result.body
            try:
                msgspec.json.decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise CaseFailed(
                    f"the media type is JSON and the answer is not: {body[:200]!r}"
                ) from None

    async def shape(harness: ProviderHarness) -> None:
        body = msgspec.json.decode(whole(call).body)
        expect(isinstance(body, dict) and body.get("object") == "list", f"it is no list: {body}")
        for place, row in enumerate(body["data"]):
            seen = (row.get("object"), row.get("index"))
            expect(seen == ("embedding", place), f"vector {place} is {seen}")
        expect(isinstance(body.get("model"), str), "it names no model")
        used = body.get("usage")
        if sample.usage is not None and used is not None:
            counted = used.get("prompt_tokens")
            expect(counted == sample.usage.input_tokens, f"prompt_tokens is {counted}")

    if call.service.kind == Kind.EMBEDDING:
        yield call.case(
            "shape",
            "Answer as the completions vendor does: a list of embeddings, each with its place.",
            shape,
        )

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


def type_faults(call: ServiceCall, result: ServiceResult) -> Iterator[str]:
    """Whether the client is told another type than what it gets is of."""
    media, own = result.exchange.media_type, call.sample.reply_type
    if result.body == call.sample.reply and _plain(media) != _plain(own):
        yield f"the vendor's {own} goes on as {media}"
    yield from _type_faults(result.body, media)
    if not call.sample.is_json:
        exchange = call.answering()
        exchange.read_head({})
        yield from _type_faults(
            exchange.feed(call.sample.reply) + exchange.close(), exchange.media_type
        )


def _type_faults(body: bytes, media_type: str) -> Iterator[str]:
    for beginning, words in _TYPES.items():
        if body.startswith(beginning) and not any(word in media_type for word in words):
            yield f"what begins with {beginning!r} goes on as {media_type}"


def lost_leaves(call: ServiceCall, body: bytes) -> Iterator[str]:
    """What the usual answer says and the client is not told."""
    if not call.is_usual or not call.sample.is_json:
        return
    told = set(leaves(msgspec.json.decode(body)))
    own = msgspec.json.decode(call.sample.reply)
    named = {str(own[name]) for name in ("id", "model", "created") if name in own}
    yield from (f"{leaf!r} is lost" for leaf in leaves(own) if leaf not in told | named)


def _plain(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


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
        for other in (call, _other(call)):
            try:
                wanted = (expected.body, whole(other).body)
            except CaseFailed:
                continue  # what is changed in the other answer was no mere text
            calls, middle = (call, other), len(reply) // 2
            exchanges = [each.answering() for each in calls]
            for exchange in exchanges:
                exchange.read_head({"content-type": call.sample.reply_type})
            halves = [
                [e.feed(part) for e, part in zip(exchanges, parts, strict=True)]
                for parts in (
                    [each.sample.reply[:middle] for each in calls],
                    [each.sample.reply[middle:] for each in calls],
                )
            ]
            for place, exchange in enumerate(exchanges):
                body = halves[0][place] + halves[1][place] + exchange.close()
                message = f"two at a time, one of them says {body[:200]!r}"
                expect(_same(body, wanted[place]), message)

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
    exchange = result.exchange
    expect(exchange.media_type, "the exchange has no media_type")
    expect(exchange.following is None, "after the whole answer it asks on")
    expect(exchange.started and exchange.ended, "a whole answer has not started, or not ended")
    return result


def _other(call: ServiceCall) -> ServiceCall:
    """The call with an answer of the same length that shows other words."""
    reply = call.sample.reply
    for word in call.sample.shown:
        reply = reply.replace(word, word.swapcase())
    return replace(call, sample=replace(call.sample, reply=reply))


def _expect_same(
    call: ServiceCall, pieces: tuple[bytes, ...], expected: ServiceResult, how: str
) -> None:
    result = feed_all(call.answering(), pieces, call.sample.reply_type)
    expect(result.exchange.failure is None, f"{how}, the answer is a failure")
    expect(_same(result.body, expected.body), f"{how}, the answer says {result.body[:200]!r}")
    same = result.exchange.usage == expected.exchange.usage
    expect(same, f"{how}, the usage is {result.exchange.usage}")


def _same(first: bytes, second: bytes) -> bool:
    return CREATED.sub(b"", first) == CREATED.sub(b"", second)
