"""Cases about refusals: the vendor's status and words reach the client, and its wait is kept."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from gateway_kit.case import Case, Run, expect
from gateway_kit.mock_vendor import MockAnswer, apply_fault
from gateway_kit.mock_vendor.refusals import WAIT

from .asgi_client import ClientAnswer
from .chat_requests import build_request
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route

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
WEAK_HINTS = ("429-body",)
"""Hints that not every format has a place for: nobody waits longer than they say."""
READ_IN_WORDS = frozenset({"openai", "openai-responses"})
"""Formats whose vendors tell the wait in the message of a refusal."""
KEEP_RESPONSE = (
    "Hand the vendor's response on with its status, headers and body; do not raise your own."
)


Ask = Callable[[ProviderHarness, str], Coroutine[Any, Any, ClientAnswer]]


def refusal_cases(subject: ProviderUnderTest, route: Route, *, stream: bool) -> Iterator[Case]:
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"

    async def ask(bench: ProviderHarness, fault: str) -> ClientAnswer:
        bench.reset()
        scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
        return await bench.ask(
            build_request(subject, route, stream=stream), apply_fault(scene, fault)
        )

    async def page(bench: ProviderHarness) -> None:
        answer = await ask(bench, "502-page")
        expect(answer.status == 502, f"a proxy's page reaches the client as {answer.status}")
        expect("<html" not in answer.text, "a proxy's page reaches the client")

    async def backs_off(bench: ProviderHarness) -> None:
        await ask(bench, "429")
        expect(bench.cooldown(subject, route) is not None, "the account does not rest after a 429")

    yield Case(name=f"{where}: refusals", advice=KEEP_RESPONSE, run=_expect_words(subject, ask))
    yield Case(name=f"{where}: a proxy's page", advice=KEEP_RESPONSE, run=page)
    yield Case(
        name=f"{where}: retry hints",
        advice="Keep retry-after and its kin: an error of your own needs retry_after in seconds.",
        run=_expect_wait(subject, route, ask),
    )
    yield Case(
        name=f"{where}: faint retry hints",
        advice="Keep the headers and the body of a refusal: a wait may stand in either.",
        run=_expect_wait_at_most(subject, route, ask),
    )
    yield Case(name=f"{where}: no retry hint", advice=KEEP_RESPONSE, run=backs_off)


def _expect_words(subject: ProviderUnderTest, ask: Ask) -> Run:
    async def run(bench: ProviderHarness) -> None:
        for fault, status in STATUSES.items():
            answer = await ask(bench, fault)
            expect(answer.status == status, f"{fault} reaches the client as {answer.status}")
            expect(WORDS[fault] in answer.text, f"the vendor's words are lost: {answer.text[:200]}")
            secret = subject.account.secret
            expect(not secret or secret not in bench.logged, "the account's key is in the log")
            expect(not secret or secret not in answer.text, "the client is told the account's key")
            expect(len(bench.received()) == 1, f"on {fault} the vendor is asked again at once")

    return run


def _expect_wait(subject: ProviderUnderTest, route: Route, ask: Ask) -> Run:
    async def run(bench: ProviderHarness) -> None:
        for fault in HINTS:
            answer = await ask(bench, fault)
            cooldown = bench.cooldown(subject, route)
            seconds = 0.0 if cooldown is None else bench.seconds_left(cooldown)
            expect(abs(seconds - WAIT) <= 1, f"after {fault} it rests {seconds:.0f}, not {WAIT} s")
            message = "retry-after" in answer.headers
            expect(message, f"after {fault} the client is not told when to come back")

    return run


def _expect_wait_at_most(subject: ProviderUnderTest, route: Route, ask: Ask) -> Run:
    async def run(bench: ProviderHarness) -> None:
        for fault in WEAK_HINTS:
            answer = await ask(bench, fault)
            cooldown = bench.cooldown(subject, route)
            seconds = 0.0 if cooldown is None else bench.seconds_left(cooldown)
            expect(answer.status == 429, f"{fault} reaches the client as {answer.status}")
            message = f"after {fault} it rests {seconds:.0f} s, where {WAIT} were asked for"
            expect(0 < seconds <= WAIT + 1, message)
            is_exact = fault == "429-body" and route.wire.id in READ_IN_WORDS
            expect(not is_exact or seconds >= WAIT - 1, message)

    return run
