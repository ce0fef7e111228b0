"""Cases about interceptors: each call goes on as it should, at once, whatever it holds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from gateway_core import Call, GatewayError
from gateway_kit.case import Case, CaseFailed, expect
from gateway_kit.hook_calls import call_hook
from gateway_kit.json_bodies import decode_members
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.providers.chat_requests import build_request

from .harness import ExtensionHarness
from .sample_calls import mark, marked_call, odd_calls, ordinary_calls, sample_records
from .subject import ExtensionUnderTest
from .timing import LONGEST, expect_prompt

REFUSED = object()
"""Stands for the call that an interceptor refused properly."""

AT_ONCE = 16
"""How many calls are on their way at the same time."""

Check = Callable[[ExtensionHarness, Any], Awaitable[None]]
"""Of one interceptor."""
CHECKS: dict[str, tuple[str, Check]] = {}
"""By the case's name: its advice and the check, in the order in which they run."""


def interceptor_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """What holds of every interceptor that the extension brings."""
    for name, (advice, check) in CHECKS.items():
        yield Case(
            name=f"{subject.module}: interceptor: {name}", advice=advice, run=_each(subject, check)
        )
    yield Case(
        name=f"{subject.module}: interceptor: in a gateway",
        advice="Let an ordinary call pass, or refuse it with a GatewayError that says why.",
        run=_served,
    )


def check(name: str, advice: str) -> Callable[[Check], Check]:
    """Add a check to CHECKS."""

    def add(function: Check) -> Check:
        CHECKS[name] = (advice, function)
        return function

    return add


def _each(subject: ExtensionUnderTest, check: Check) -> Callable[[ExtensionHarness], Any]:
    async def run(bench: ExtensionHarness) -> None:
        interceptors = list(call_hook(subject.plugin, "register_interceptors"))
        expect(interceptors, "it registers no interceptor")
        for interceptor in interceptors:
            await check(bench, interceptor)

    return run


@check("order", "Give order a whole number, and required True or False.")
async def fields_are_typed(bench: ExtensionHarness, interceptor: Any) -> None:
    order, required = interceptor.order, interceptor.required
    expect(type(order) is int, f"order is {order!r}")
    expect(type(required) is bool, f"required is {required!r}")


@check("in time", "Await what takes time, and give up soon: every call waits for it.")
async def finishes_in_time(bench: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(bench.vendor):
        await expect_prompt(partial(_before, interceptor, call, about), f"{about}: before()")
    for record in sample_records():
        await expect_prompt(partial(_after, interceptor, record), "after()")


@check("gives a call", "Give back from before() the call to go on with.")
async def returns_a_call(bench: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(bench.vendor):
        result = await _before(interceptor, call, about)
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
async def body_and_members_agree(bench: ExtensionHarness, interceptor: Any) -> None:
    for about, call in ordinary_calls(bench.vendor):
        result = await _before(interceptor, call, about)
        if isinstance(result, Call):
            expect(
                decode_members(result.body) == dict(result.members),
                f"{about}: members and body differ",
            )


@check("odd calls", "Raise nothing but a GatewayError, whatever a body holds.")
async def accepts_odd_calls(bench: ExtensionHarness, interceptor: Any) -> None:
    for about, call in odd_calls():
        result = await _before(interceptor, call, about)
        is_sound = result is REFUSED or isinstance(result, Call)
        expect(is_sound, f"{about}: before() gives {type(result).__name__}")


@check("apart", "Keep nothing of one call where another call finds it.")
async def keeps_calls_apart(bench: ExtensionHarness, interceptor: Any) -> None:
    request = (_before(interceptor, marked_call(each), "many at once") for each in range(AT_ONCE))
    for number, result in enumerate(await asyncio.gather(*request)):
        others = [mark(each) for each in range(AT_ONCE) if each != number]
        mixed = isinstance(result, Call) and any(each in result.body for each in others)
        expect(not mixed, "a call goes on with the words of another one")


@check("records", "Take any record in after(): most members may be None.")
async def accepts_records(bench: ExtensionHarness, interceptor: Any) -> None:
    for record in sample_records():
        copy = dict(record)
        await _after(interceptor, record)
        expect(record == copy, "after() changes the record, which others look at too")
        await _after(interceptor, {**record, "a_member_of_a_later_version": 1})


async def _served(bench: ExtensionHarness) -> None:
    """Every client format through a whole gateway."""
    for route in bench.vendor.routes():
        for stream in (False, True):
            scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
            request = build_request(bench.vendor, route, stream=stream)
            before = len(bench.warnings.messages)
            answer = await bench.calls.ask(request, scene.response())
            message = f"{route.client} is answered with {answer.status}: {answer.text[:200]}"
            expect(answer.status < 500, message)
            await bench.gateway.core.ledger.flush()
            expect(
                len(bench.warnings.messages) == before, "; ".join(bench.warnings.messages[before:])
            )


async def _before(interceptor: Any, call: Call, about: str) -> Any:
    """The call to go on with, or REFUSED. Raises Unmet."""
    try:
        async with asyncio.timeout(LONGEST):
            return await interceptor.before(call)
    except TimeoutError:
        raise CaseFailed(f"{about}: before() is not done after {LONGEST:g} seconds") from None
    except GatewayError as error:
        sound = 400 <= error.status < 600 and bool(error.message)
        expect(sound, f"{about}: it refuses with status {error.status} and {error.message!r}")
        return REFUSED
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
        raise CaseFailed(f"{about}: {type(error).__name__}: {error}") from error


async def _after(interceptor: Any, record: Any) -> None:
    try:
        async with asyncio.timeout(LONGEST):
            await interceptor.after(record)
    except TimeoutError:
        raise CaseFailed(f"after() is not done after {LONGEST:g} seconds") from None
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
        raise CaseFailed(f"after() raises {type(error).__name__}: {error}") from error
