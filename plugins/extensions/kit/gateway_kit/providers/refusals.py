"""Cases about refusals: the vendor's status and words reach the client, and its wait is kept."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from gateway_kit.case import Case, Run, expect
from gateway_kit.mock_vendor import Scene, spoil
from gateway_kit.mock_vendor.refusals import WAIT

from .asgi_client import Answer
from .chat_requests import question
from .harness import Bench
from .subject import Route, Subject

STATUSES = {"401": 401, "403": 403, "404": 404, "429": 429, "500": 500, "503": 503, "529": 529}
WORDS = {
    "401": "Incorrect API key",
    "403": "Not permitted",
    "404": "does not exist",
    "429": "Slow down",
    "500": "Internal error",
    "503": "Overloaded",
    "529": "Overloaded",
}
HINTS = ("429-seconds", "429-ms", "429-date", "429-reset", "429-reset-alone")
FAINT = ("429-body",)
"""Hints that not every format has a place for: nobody waits longer than they say."""
READ_IN_WORDS = frozenset({"openai", "openai-responses"})
"""Formats whose vendors tell the wait in the message of a refusal."""
KEPT = "Hand the vendor's response on with its status, headers and body; do not raise your own."


Ask = Callable[[Bench, str], Coroutine[Any, Any, Answer]]


def refused(subject: Subject, route: Route, *, stream: bool) -> Iterator[Case]:
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"

    async def ask(bench: Bench, fault: str) -> Answer:
        bench.begin()
        scene = Scene(dialect=route.dialect, model=route.model.id, stream=stream)
        return await bench.ask(question(subject, route, stream=stream), spoil(scene, fault))

    async def page(bench: Bench) -> None:
        answer = await ask(bench, "502-page")
        expect(answer.status == 502, f"a proxy's page reaches the client as {answer.status}")
        expect("<html" not in answer.text, "a proxy's page reaches the client")

    async def backs_off(bench: Bench) -> None:
        await ask(bench, "429")
        expect(bench.rest(subject, route) is not None, "the account does not rest after a 429")

    yield Case(name=f"{where}: refusals", advice=KEPT, run=_told(subject, ask))
    yield Case(name=f"{where}: a proxy's page", advice=KEPT, run=page)
    yield Case(
        name=f"{where}: retry hints",
        advice="Keep retry-after and its kin: an error of your own needs retry_after in seconds.",
        run=_waits(subject, route, ask),
    )
    yield Case(
        name=f"{where}: faint retry hints",
        advice="Keep the headers and the body of a refusal: a wait may stand in either.",
        run=_waits_at_most(subject, route, ask),
    )
    yield Case(name=f"{where}: no retry hint", advice=KEPT, run=backs_off)


def _told(subject: Subject, ask: Ask) -> Run:
    async def run(bench: Bench) -> None:
        for fault, status in STATUSES.items():
            answer = await ask(bench, fault)
            expect(answer.status == status, f"{fault} reaches the client as {answer.status}")
            expect(WORDS[fault] in answer.text, f"the vendor's words are lost: {answer.text[:200]}")
            _tells_no_secret(answer, bench.logged, subject)
            expect(len(bench.asked()) == 1, f"on {fault} the vendor is asked again at once")

    return run


def _waits(subject: Subject, route: Route, ask: Ask) -> Run:
    async def run(bench: Bench) -> None:
        for fault in HINTS:
            answer = await ask(bench, fault)
            rest = bench.rest(subject, route)
            seconds = 0.0 if rest is None else bench.waits(rest)
            expect(abs(seconds - WAIT) <= 1, f"after {fault} it rests {seconds:.0f}, not {WAIT} s")
            told = "retry-after" in answer.headers
            expect(told, f"after {fault} the client is not told when to come back")

    return run


def _waits_at_most(subject: Subject, route: Route, ask: Ask) -> Run:
    async def run(bench: Bench) -> None:
        for fault in FAINT:
            answer = await ask(bench, fault)
            rest = bench.rest(subject, route)
            seconds = 0.0 if rest is None else bench.waits(rest)
            expect(answer.status == 429, f"{fault} reaches the client as {answer.status}")
            told = f"after {fault} it rests {seconds:.0f} s, where {WAIT} were asked for"
            expect(0 < seconds <= WAIT + 1, told)
            is_exact = fault == "429-body" and route.wire.id in READ_IN_WORDS
            expect(not is_exact or seconds >= WAIT - 1, told)

    return run


def _tells_no_secret(answer: Answer, logged: str, subject: Subject) -> None:
    secret = subject.account.secret
    expect(not secret or secret not in logged, "the account's key is in the log")
    expect(not secret or secret not in answer.text, "the client is told the account's key")
