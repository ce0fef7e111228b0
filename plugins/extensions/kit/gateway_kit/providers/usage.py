"""Cases about usage: the ledger's row says what the vendor reported, once."""

from collections.abc import Iterator

from gateway_core.storage.stores.usage import UsageRow
from gateway_kit.case import Case, expect
from gateway_kit.mock_vendor import SAYINGS, Content, Scene, spoil

from .chat_requests import question
from .harness import Bench
from .subject import Route, Subject

ONCE = "Report what the vendor reported last, once: do not add counts up, and do not invent any."


def counting(subject: Subject, route: Route, *, stream: bool) -> Iterator[Case]:
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"

    async def _row(bench: Bench, content: Content, fault: str | None = None) -> UsageRow:
        scene = Scene(dialect=route.dialect, content=content, model=route.model.id, stream=stream)
        said = spoil(scene, fault) if fault else scene.said()
        answer = await bench.ask(question(subject, route, stream=stream), said)
        expect(answer.status == 200, f"status {answer.status}: {answer.text[:200]}")
        return await bench.row()

    async def exact(bench: Bench) -> None:
        for name in ("text", "thinking", "cached"):
            _same(await _row(bench, SAYINGS[name]), SAYINGS[name], route)

    async def odd(bench: Bench) -> None:
        for fault in ("usage-repeated", "finish-twice"):
            _same(await _row(bench, SAYINGS["cached"], fault), SAYINGS["cached"], route)
        late = await _row(bench, SAYINGS["cached"], "usage-late")
        if not late.estimated:
            _same(late, SAYINGS["cached"], route)
        wrong = await _row(bench, SAYINGS["text"], "usage-wrong")
        expect(wrong.status == "ok", "impossible counts make a sound answer fail")

    async def missing(bench: Bench) -> None:
        row = await _row(bench, SAYINGS["text"], "usage-missing")
        expect(row.estimated, "nothing was reported and the row does not say that it is estimated")
        expect(row.input_tokens > 0, "nothing was reported and nothing is estimated")

    yield Case(name=f"{where}: usage", advice=ONCE, run=exact)
    yield Case(name=f"{where}: usage told oddly", advice=ONCE, run=odd)
    yield Case(
        name=f"{where}: usage not told",
        advice="Leave usage None where the vendor reports none, so that the gateway estimates it.",
        run=missing,
    )


def _same(row: UsageRow, content: Content, route: Route) -> None:
    told, kinds = content.usage, route.dialect.counts
    assert told is not None, "these answers report usage"
    wanted = {
        "input": (row.input_tokens, told.input),
        "output": (row.output_tokens, told.output),
        "cached": (row.cached_tokens, told.cached if "cached" in kinds else row.cached_tokens),
        "reasoning": (
            row.reasoning_tokens,
            told.reasoning if "reasoning" in kinds else row.reasoning_tokens,
        ),
    }
    for name, (found, due) in wanted.items():
        expect(found == due, f"the row has {found} {name} tokens, the vendor reported {due}")
    expect(row.cached_tokens <= row.input_tokens, "more cached than input tokens")
    expect(not row.estimated, "the row is estimated although the vendor reported usage")
