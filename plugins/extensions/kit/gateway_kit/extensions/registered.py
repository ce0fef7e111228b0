"""Cases about what an extension registers besides routes, interceptors and filters.

Each hook has a case whose name ends in ``exercised``: without it nothing above bronze was seen.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from gateway_administration.plugins.tiers import Tier
from gateway_cli.listening import listen
from gateway_core import AccountRest, AccountScore, LimitReached, SharedLimits, UpstreamRequest
from gateway_core.contracts.server import ServerOptions
from gateway_core.upstream.transport import Network
from gateway_kit.case import Case, CaseFailed, expect, expect_none
from gateway_kit.hook_calls import call_hook
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.providers.chat_requests import build_request
from gateway_kit.providers.declaration import EXERCISED

from .harness import SECRET, ExtensionHarness
from .subject import ExtensionUnderTest
from .timing import expect_prompt

DECLARE = 'Declare settings with which it does its work, in CONFORMANCE: {"settings": {…}}.'
PATIENCE = 5.0
"""Seconds for a connection, or until a store that does not answer is given up."""
PIECES = (b"Gr\xc3\xbc\xc3\x9fe, ", b"\x00\xff" * 4096, b"the end")
HELLO = b"Hello"

Check = Callable[[ExtensionHarness, Any], Coroutine[Any, Any, None]]
"""Of one registered object."""
CHECKS: dict[str, dict[str, tuple[str, Tier, Check]]] = {}
"""By hook and by name: advice, tier and check."""
LABELS = {
    "register_shared_state": "shared state",
    "register_file_contents": "file contents",
    "register_observation": "observation",
    "register_servers": "servers",
}
LISTENING = "listening"


def registered_check(
    hook: str, name: str, advice: str, tier: Tier = Tier.SILVER
) -> Callable[[Check], Check]:
    """Add a check of what a hook registers to CHECKS."""

    def add(check: Check) -> Check:
        CHECKS.setdefault(hook, {})[name] = (advice, tier, check)
        return check

    return add


def registered_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """Cases for each of these hooks that the extension implements."""
    for hook, checks in CHECKS.items():
        for name, (advice, tier, check) in checks.items() if hook in subject.hooks else ():
            yield Case(
                name=f"{subject.module}: {LABELS[hook]}: {name}",
                advice=advice,
                run=partial(_each, subject, hook, check),
                tier=tier,
            )
    if LISTENING in subject.hooks:
        yield Case(
            name=f"{subject.module}: listening: at once",
            advice="Say where it listens and return; what takes time belongs into a task.",
            run=partial(_listening, subject),
            tier=Tier.SILVER,
        )


async def _each(
    subject: ExtensionUnderTest, hook: str, check: Check, harness: ExtensionHarness
) -> None:
    registered = list(call_hook(subject.plugin, hook, {"settings": harness.working_settings}))
    expect(registered, f"{hook} gives nothing. {DECLARE}")
    for each in registered:
        await check(harness, each)


async def _listening(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    arguments = {"address": "http://127.0.0.1:20128", "browser": False, "tray": False}

    async def call() -> None:
        call_hook(subject.plugin, LISTENING, arguments)

    await expect_prompt(call, "listening()")


@asynccontextmanager
async def _connected(state: Any) -> AsyncIterator[Any]:
    """Raises CaseFailed."""
    heard: list[AccountRest | AccountScore] = []
    try:
        async with asyncio.timeout(PATIENCE), state.connect(heard.append):
            yield state
    except TimeoutError:
        raise CaseFailed(f"it is not done after {PATIENCE:g} seconds") from None


@registered_check("register_shared_state", EXERCISED[2:], DECLARE)
async def state_is_shared(harness: ExtensionHarness, state: Any) -> None:
    async with _connected(state):
        deadline = time.monotonic() + PATIENCE / 2
        while state.trouble and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        expect(state.trouble == "", f"it shares nothing: {state.trouble}")


@registered_check(
    "register_shared_state",
    "counts",
    "Count by name, refuse with LimitReached what is over a limit, and never raise or wait.",
)
async def state_counts(harness: ExtensionHarness, state: Any) -> None:
    name = f"kit-{uuid4().hex}"

    async def admit(kind: str, **limits: int) -> LimitReached | None:
        work = partial(state.admit, f"{name}-{kind}", SharedLimits(**limits))
        reached: LimitReached | None = await expect_prompt(work, "admit()")
        is_known = reached is None or isinstance(reached, LimitReached)
        expect(is_known, f"admit() gives {type(reached).__name__}")
        return reached

    async with _connected(state):
        for _ in range(2):
            expect(await admit("a", requests=2) is None, "a call within its limit is refused")
        reached = await admit("a", requests=2)
        expect(reached is not None, "a third call of two is admitted")
        if reached is not None:
            expect(reached.limit == "requests", f"the limit is {reached.limit!r}")
            expect(reached.wait > 0, f"the wait is {reached.wait!r}")
        expect(await admit("b", requests=2) is None, "a limit counts for another name too")
        state.withdraw(f"{name}-a")
        expect(await admit("a", requests=2) is None, "a call that was withdrawn counts still")
        expect(await admit("c", at_once=1) is None, "the first call at a time is refused")
        expect(await admit("c", at_once=1) is not None, "two calls run where one may")
        state.leave(f"{name}-c")
        expect(await admit("c", at_once=1) is None, "a call that has ended counts still")
        expect(await admit("d", tokens=10) is None, "a call without tokens is refused")
        state.record(f"{name}-d", 11)
        expect(await admit("d", tokens=10) is not None, "tokens are not counted")
        state.publish(AccountRest(account=name, model="large", until=time.time() + 1))
        state.publish(AccountScore(account=name, model="large", score=75.0, change=-25.0))


def _write(contents: Any, key: str) -> None:
    writer = contents.create(key)
    for piece in PIECES:
        writer.write(piece)
    writer.finish()


def _read(contents: Any, key: str, begin: int, end: int) -> bytes:
    reader = contents.open(key, begin, end)
    try:
        return b"".join(iter(partial(reader.read, 1000), b""))
    finally:
        reader.close()


@registered_check("register_file_contents", EXERCISED[2:], DECLARE)
async def contents_can_be_used(harness: ExtensionHarness, contents: Any) -> None:
    can, why = await asyncio.to_thread(contents.check)
    expect(can is True, f"it keeps nothing: {why}")


@registered_check(
    "register_file_contents",
    "keeps contents",
    "Give back what was written, by ranges, until it is removed.",
)
async def contents_are_kept(harness: ExtensionHarness, contents: Any) -> None:
    key, body = uuid4().hex, b"".join(PIECES)
    await asyncio.to_thread(_write, contents, key)
    for begin, end in ((0, len(body)), (3, 2500), (len(body) - 1, len(body))):
        got = await asyncio.to_thread(_read, contents, key, begin, end)
        expect(got == body[begin:end], f"of {begin} to {end} it gives {len(got)} other bytes")
    await asyncio.to_thread(contents.remove, key)
    await asyncio.to_thread(contents.remove, key)
    try:
        await asyncio.to_thread(_read, contents, key, 0, 1)
    except FileNotFoundError:
        return
    raise CaseFailed("what was removed can be read")


@registered_check(
    "register_file_contents",
    "errors",
    "Raise nothing but OSError, soon and without secrets; check() never raises.",
    Tier.GOLD,
)
async def contents_fail_soundly(harness: ExtensionHarness, contents: Any) -> None:
    can, text = await _soon(asyncio.to_thread(contents.check), "check()")
    expect(type(can) is bool and isinstance(text, str), f"check() gives {can!r}, {text!r}")
    texts = [text]
    for name, work in (
        ("open()", partial(_read, contents, uuid4().hex, 0, 1)),
        ("remove()", partial(contents.remove, uuid4().hex)),
    ):
        try:
            await _soon(asyncio.to_thread(work), name)
        except OSError as error:
            texts.append(str(error))
        except CaseFailed:
            raise
        except Exception as error:  # the plugin's code may raise anything; that is the failure
            raise CaseFailed(f"{name} raises {type(error).__name__}: {error}") from error
    expect(not any(SECRET in each for each in texts), "an error shows a secret")


async def _soon(work: Awaitable[Any], what: str) -> Any:
    """Raises CaseFailed."""
    try:
        async with asyncio.timeout(2 * PATIENCE):
            return await work
    except TimeoutError:
        raise CaseFailed(f"{what} is not done after {2 * PATIENCE:g} seconds") from None


@registered_check("register_observation", EXERCISED[2:], DECLARE)
async def observes_soundly(harness: ExtensionHarness, observation: Any) -> None:
    """The harness's gateway is observed: its settings are those that are declared."""
    is_used = harness.gateway.core.snapshot.registry.observation is not None
    expect(is_used, f"no gateway is observed. {DECLARE}")
    for route in harness.vendor.routes():
        for stream in (False, True):
            harness.calls.reset()
            warnings = len(harness.warnings.messages)
            scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
            request = build_request(harness.vendor, route, stream=stream)
            answer = await harness.calls.ask(request, scene.response())
            expect(answer.status == 200, f"{route.client}: {answer.status}: {answer.text[:200]}")
            failed = await harness.calls.ask(request, scene.refusal(500, "The vendor is ill"))
            expect(failed.status >= 500, f"{route.client}: a failure becomes {failed.status}")
            await harness.gateway.core.ledger.flush()
            expect_none(harness.warnings.messages[warnings:])


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@registered_check("register_servers", EXERCISED[2:], "Serve the application until it is to stop.")
async def serves(harness: ExtensionHarness, spec: Any) -> None:
    stop, listener, network = asyncio.Event(), listen("127.0.0.1", 0), Network()
    server = spec.create(ServerOptions())
    serving = asyncio.create_task(server.serve(_echo, listener, stop.wait))
    try:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/echo"
        response = await network.transport().send(UpstreamRequest(url=url, body=HELLO))
        body = await response.next()
        await response.aclose()
        expect((response.status, body) == (200, HELLO), f"it answers {response.status} {body!r}")
        stop.set()
        await _soon(serving, "serve()")
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await network.aclose()
        listener.close()
