"""Cases about interceptors: calls continue unharmed and without delay."""

import asyncio
import tracemalloc
from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from gateway_core import Call, GatewayError
from gateway_kit.case import Case, CaseFailed, expect, expect_none
from gateway_kit.json_bodies import decode_members
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.providers.chat_requests import WORDS, build_request
from gateway_kit.witness import Witness

from .harness import SECRET, ExtensionHarness
from .object_checks import ObjectChecks
from .route_requests import route_methods
from .sample_calls import (
    PRIVATE,
    mark,
    marked_call,
    odd_calls,
    ordinary_calls,
    sample_records,
    touched_calls,
)
from .subject import ExtensionUnderTest
from .timing import LONGEST, expect_prompt, longest_stop

REFUSED = object()
"""Stands for the call that an interceptor refused properly."""

ROUTED = frozenset({"model", "stream", "messages", "contents", "input"})
"""Members that an ordinary call needs to arrive."""
STALL = 0.05
"""Seconds for which nothing else may run, of the best of some tries."""
ROUNDS, SIZE = 40, 4096
AT_ONCE = 16
"""How many calls are on their way at the same time."""

CHECKS = ObjectChecks("interceptor", "register_interceptors", "interceptor")
check = CHECKS.add


def interceptor_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """What holds of every interceptor that the extension brings."""
    yield from CHECKS.cases(subject)
    yield Case(
        name=f"{subject.module}: interceptor: in a gateway",
        advice="Let an ordinary call pass, or refuse it with a GatewayError that says why.",
        run=_served,
    )
    yield Case(
        name=f"{subject.module}: interceptor: shows nothing",
        advice="Show counts and names on a route, and nothing of what calls say.",
        run=_shown,
    )


@check("order", "Give order a whole number, and required True or False.")
async def fields_are_typed(harness: ExtensionHarness, interceptor: Any) -> None:
    order, required = interceptor.order, interceptor.required
    expect(type(order) is int, f"order is {order!r}")
    expect(type(required) is bool, f"required is {required!r}")


@check("in time", "Await what takes time, and give up soon: every call waits for it.")
async def finishes_in_time(harness: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(harness.vendor):
        await expect_prompt(partial(run_before, interceptor, call, about), f"{about}: before()")
    for record in sample_records():
        await expect_prompt(partial(_after, interceptor, record), "after()")


@check("gives a call", "Give back from before() the call to go on with.")
async def returns_a_call(harness: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(harness.vendor):
        result = await run_before(interceptor, call, about)
        if result is not REFUSED:
            expect(isinstance(result, Call), f"{about}: before() gives {type(result).__name__}")
            same = (result.kind, result.format, result.stream) == (
                call.kind,
                call.format,
                call.stream,
            )
            expect(same, f"{about}: it changes what the client waits for")


@check(
    "body and members",
    "Change a call with msgspec.structs.replace, its members together with its body.",
)
async def body_and_members_agree(harness: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(harness.vendor):
        result = await run_before(interceptor, call, about)
        if isinstance(result, Call):
            expect(
                decode_members(result.body) == dict(result.members),
                f"{about}: members and body differ",
            )


@check("odd calls", "Raise nothing but a GatewayError, whatever a body holds.")
async def accepts_odd_calls(harness: ExtensionHarness, interceptor: Any) -> None:
    for about, call in odd_calls(harness.vendor):
        result = await run_before(interceptor, call, about)
        is_sound = result is REFUSED or isinstance(result, Call)
        expect(is_sound, f"{about}: before() gives {type(result).__name__}")


@check(
    "acts soundly",
    "Change a body without breaking it: its model, stream and all other members stay.",
)
async def acts_soundly(harness: ExtensionHarness, interceptor: Any) -> None:
    for about, call in touched_calls(harness.vendor, harness.settings, harness.texts):
        result = await run_before(interceptor, call, about)
        if not isinstance(result, Call):
            expect(result is REFUSED, f"{about}: before() gives {type(result).__name__}")
            continue
        same = (result.kind, result.format, result.stream) == (call.kind, call.format, call.stream)
        expect(same, f"{about}: it changes what the client waits for")
        members = decode_members(result.body)
        expect(members == dict(result.members), f"{about}: members and body differ")
        lost = set(call.members) & ROUTED - set(members)
        expect(not lost, f"{about}: {', '.join(sorted(lost))} is gone")
        client = harness.vendor.registry.formats[call.format].client
        if client is not None:
            try:
                client.read_request(result)
            except Exception as error:  # what the format says of the body is the failure
                raise CaseFailed(f"{about}: the changed body cannot be read: {error}") from error


@check("lets calls pass", "Refuse a call for a reason; with usual settings an ordinary one passes.")
async def lets_pass(harness: ExtensionHarness, interceptor: Any) -> None:
    calls = list(ordinary_calls(harness.vendor))
    results = [await run_before(interceptor, call, about) for about, call in calls]
    expect(any(result is not REFUSED for result in results), "every ordinary call is refused")


@check("in turn", "Run what takes time in a thread: all other calls wait for the event loop.")
async def gives_turns(harness: ExtensionHarness, interceptor: Any) -> None:
    about, call = next(ordinary_calls(harness.vendor))
    record = next(iter(sample_records()))
    for name, work in (
        ("before()", partial(run_before, interceptor, call, about)),
        ("after()", partial(_after, interceptor, record)),
    ):
        longest = min([await longest_stop(work) for _ in range(4)])
        expect(longest < STALL, f"{name} stops everything else for {longest * 1000:.0f} ms")


@check("private", "Neither log, print nor write down what a call says, and keep none of it.")
async def keeps_private(harness: ExtensionHarness, interceptor: Any) -> None:
    calls = list(touched_calls(harness.vendor, harness.settings, harness.texts))
    with Witness() as witness:
        for about, call in calls[:10]:
            await run_before(interceptor, call, about)
    expect(PRIVATE not in witness.text, "what a call says is in the log or the output")
    own = str(harness.folder)
    expect_none(f"{path} is written to" for path in witness.written if own not in path)


@check("memory", "Keep nothing of a call once it is on its way.")
async def memory_is_flat(harness: ExtensionHarness, interceptor: Any) -> None:
    about, call = next(ordinary_calls(harness.vendor))

    async def ask(times: int) -> None:
        for number in range(times):
            body = call.body.replace(WORDS.encode(), b"%d" % number * SIZE)
            changed = replace(call, body=body, members=decode_members(body))
            await run_before(interceptor, changed, about)

    await ask(3)
    tracemalloc.start()
    try:
        await ask(1)
        before = tracemalloc.get_traced_memory()[0]
        await ask(ROUNDS)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    expect(grown < ROUNDS * SIZE // 4, f"{ROUNDS} calls leave {grown} bytes")


@check("apart", "Keep nothing of one call where another call finds it.")
async def keeps_calls_apart(harness: ExtensionHarness, interceptor: Any) -> None:
    request = (
        run_before(interceptor, marked_call(each, harness.vendor, harness.texts), "many at once")
        for each in range(AT_ONCE)
    )
    for number, result in enumerate(await asyncio.gather(*request)):
        others = [mark(each) for each in range(AT_ONCE) if each != number]
        mixed = isinstance(result, Call) and any(each in result.body for each in others)
        expect(not mixed, "a call goes on with the words of another one")


@check("records", "Take any record in after(): most members may be None.")
async def accepts_records(harness: ExtensionHarness, interceptor: Any) -> None:
    for record in sample_records():
        copy = dict(record)
        await _after(interceptor, record)
        expect(record == copy, "after() changes the record, which others look at too")
        await _after(interceptor, {**record, "a_member_of_a_later_version": 1})


async def _served(harness: ExtensionHarness) -> None:
    """Every client format through a whole gateway."""
    for route in harness.vendor.routes():
        for stream in (False, True):
            scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
            request = build_request(harness.vendor, route, stream=stream)
            before = len(harness.warnings.messages)
            answer = await harness.calls.ask(request, scene.response())
            message = f"{route.client} is answered with {answer.status}: {answer.text[:200]}"
            expect(answer.status < 500, message)
            await harness.gateway.core.ledger.flush()
            expect(
                len(harness.warnings.messages) == before,
                "; ".join(harness.warnings.messages[before:]),
            )


async def _shown(harness: ExtensionHarness) -> None:
    """What a call says is on none of the extension's own routes afterwards."""
    route = harness.vendor.routes()[0]
    request = build_request(harness.vendor, route, stream=False)
    marked = marked_call(0, harness.vendor, harness.texts)
    scene = MockAnswer(dialect=route.dialect, model=route.model.id)
    body = marked.body.replace(mark(0), PRIVATE.encode())
    await harness.calls.ask(replace(request, body=body), scene.response())
    await harness.gateway.core.ledger.flush()
    for guarded in harness.routes():
        for method in route_methods(guarded):
            if method.method == "GET" and not method.has_parameters:
                answer = await harness.ask("GET", method.path, b"", **harness.operator())
                expect(PRIVATE not in answer.text, f"{method} shows what a call said")
                expect(SECRET not in answer.text, f"{method} shows a secret setting")


async def run_before(interceptor: Any, call: Call, about: str) -> Any:
    """The call to go on with, or REFUSED. Raises CaseFailed."""
    try:
        async with asyncio.timeout(LONGEST):
            return await interceptor.before(call)
    except TimeoutError:
        raise CaseFailed(f"{about}: before() is not done after {LONGEST:g} seconds") from None
    except GatewayError as error:
        sound = 400 <= error.status < 600 and bool(error.message)
        expect(sound, f"{about}: it refuses with status {error.status} and {error.message!r}")
        return REFUSED
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        raise CaseFailed(f"{about}: {type(error).__name__}: {error}") from error


async def _after(interceptor: Any, record: Any) -> None:
    try:
        async with asyncio.timeout(LONGEST):
            await interceptor.after(record)
    except TimeoutError:
        raise CaseFailed(f"after() is not done after {LONGEST:g} seconds") from None
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        raise CaseFailed(f"after() raises {type(error).__name__}: {error}") from error
