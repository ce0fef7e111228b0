"""Cases about what a service makes of its vendor's answer, whole and torn anywhere."""

from collections.abc import Iterator

import msgspec

from gateway_core import Usage
from gateway_kit.case import Case, Unmet, expect

from ..harness import Bench
from .service_call import Asking, Carried, carried

MOST_CUTS = 2_000
OWN_SAMPLE = "A vendor that answers otherwise than most needs a sample of its own (samples=...)."


def answers(asking: Asking) -> Iterator[Case]:
    sample = asking.sample

    async def tells(bench: Bench) -> None:
        said = whole(asking)
        at = 0
        for word in sample.shown:
            found = said.body.find(word, at)
            expect(found >= 0, f"the client is not told {word!r}: {said.body[:200]!r}")
            at = found + len(word)
        if "json" in said.exchange.media_type:
            _expect_json(said.body)

    async def counts(bench: Bench) -> None:
        usage = whole(asking).exchange.usage
        wanted = sample.usage
        expect(_same(usage, wanted), f"the usage is {usage} and should be {wanted}")

    yield asking.case("answer", f"Hand on all that the vendor says. {OWN_SAMPLE}", tells)
    yield asking.case(
        "usage",
        "Report what the vendor reports, once, and None where it reports nothing.",
        counts,
    )


def torn(asking: Asking) -> Iterator[Case]:
    reply = asking.sample.reply

    async def every_cut(bench: Bench) -> None:
        wanted = whole(asking)
        for at in range(1, min(len(reply), MOST_CUTS)):
            _expect_same(asking, (reply[:at], reply[at:]), wanted, f"cut at byte {at}")

    async def crumbs(bench: Bench) -> None:
        pieces = tuple(reply[at : at + 1] for at in range(len(reply)))
        _expect_same(asking, pieces, whole(asking), "in single bytes")

    async def apart(bench: Bench) -> None:
        wanted = whole(asking)
        first, second = asking.open(), asking.open()
        middle = len(reply) // 2
        given = [first.feed(reply[:middle]), second.feed(reply[:middle])]
        given = [given[0] + first.feed(reply[middle:]), given[1] + second.feed(reply[middle:])]
        for exchange, told in zip((first, second), given, strict=True):
            body = told + exchange.close()
            expect(body == wanted.body, f"two at a time, one of them says {body[:200]!r}")

    advice = "Hold what is unfinished until the rest of it has come."
    yield asking.case("every cut", advice, every_cut)
    yield asking.case("crumbs", advice, crumbs)
    yield asking.case("two at a time", "Keep what one answer says in its own exchange.", apart)


def whole(asking: Asking) -> Carried:
    """The vendor's answer in one piece. Raises Unmet when it is taken for a failure."""
    said = carried(asking.open(), (asking.sample.reply,))
    failure = said.exchange.failure
    if failure is not None:
        raise Unmet(f"a sound answer is a failure: {failure.message}")
    expect(said.exchange.media_type, "the exchange has no media_type")
    return said


def _expect_same(asking: Asking, pieces: tuple[bytes, ...], wanted: Carried, how: str) -> None:
    said = carried(asking.open(), pieces)
    expect(said.exchange.failure is None, f"{how}, the answer is a failure")
    expect(said.body == wanted.body, f"{how}, the answer says {said.body[:200]!r}")
    same = said.exchange.usage == wanted.exchange.usage
    expect(same, f"{how}, the usage is {said.exchange.usage}")


def _expect_json(body: bytes) -> None:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unmet(f"the media type is JSON and the answer is not: {body[:200]!r}") from None


def _same(usage: Usage | None, wanted: Usage | None) -> bool:
    if usage is None or wanted is None:
        return usage is wanted
    told = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.estimated)
    return told == (wanted.input_tokens, wanted.output_tokens, wanted.cached_tokens, False)
