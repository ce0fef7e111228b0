"""Cases about usage: the ledger's row says what the vendor reported, once."""

from collections.abc import Iterator

from gateway_core.storage.stores.usage import UsageRow
from gateway_kit.case import Case, expect
from gateway_kit.mock_vendor import CONTENTS, Content, MockAnswer, apply_fault

from .chat_requests import build_request
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route

ONCE = "Report what the vendor reported last, once: do not add counts up, and do not invent any."


def usage_cases(subject: ProviderUnderTest, route: Route, *, stream: bool) -> Iterator[Case]:
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"

    async def _row(bench: ProviderHarness, content: Content, fault: str | None = None) -> UsageRow:
        scene = MockAnswer(
            dialect=route.dialect, content=content, model=route.model.id, stream=stream
        )
        response = apply_fault(scene, fault) if fault else scene.response()
        answer = await bench.ask(build_request(subject, route, stream=stream), response)
        expect(answer.status == 200, f"status {answer.status}: {answer.text[:200]}")
        return await bench.read_usage_row()

    async def exact(bench: ProviderHarness) -> None:
        for name in ("text", "thinking", "cached"):
            _expect_usage(await _row(bench, CONTENTS[name]), CONTENTS[name], route)

    async def odd(bench: ProviderHarness) -> None:
        for fault in ("usage-repeated", "finish-twice"):
            _expect_usage(await _row(bench, CONTENTS["cached"], fault), CONTENTS["cached"], route)
        late = await _row(bench, CONTENTS["cached"], "usage-late")
        if not late.estimated:
            _expect_usage(late, CONTENTS["cached"], route)
        wrong = await _row(bench, CONTENTS["text"], "usage-wrong")
        expect(wrong.status == "ok", "impossible counts make a sound answer fail")

    async def missing(bench: ProviderHarness) -> None:
        row = await _row(bench, CONTENTS["text"], "usage-missing")
        expect(row.estimated, "nothing was reported and the row does not say that it is estimated")
        expect(row.input_tokens > 0, "nothing was reported and nothing is estimated")

    yield Case(name=f"{where}: usage", advice=ONCE, run=exact)
    yield Case(name=f"{where}: usage told oddly", advice=ONCE, run=odd)
    yield Case(
        name=f"{where}: usage not told",
        advice="Leave usage None where the vendor reports none, so that the gateway estimates it.",
        run=missing,
    )


def _expect_usage(row: UsageRow, content: Content, route: Route) -> None:
    reported, kinds = content.usage, route.dialect.counts
    assert reported is not None, "these answers report usage"
    counts = {
        "input": (row.input_tokens, reported.input),
        "output": (row.output_tokens, reported.output),
        "cached": (row.cached_tokens, reported.cached if "cached" in kinds else row.cached_tokens),
        "reasoning": (
            row.reasoning_tokens,
            reported.reasoning if "reasoning" in kinds else row.reasoning_tokens,
        ),
    }
    for name, (actual, expected) in counts.items():
        expect(
            actual == expected,
            f"the row has {actual} {name} tokens, the vendor reported {expected}",
        )
    expect(row.cached_tokens <= row.input_tokens, "more cached than input tokens")
    expect(not row.estimated, "the row is estimated although the vendor reported usage")
