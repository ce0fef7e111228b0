"""Cases about interceptors: each call goes on as it should, at once, whatever it holds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from gateway_core import BadRequest, Call, GatewayError
from gateway_core.pipeline.json_body import members_of
from gateway_kit.case import Case, Unmet, expect
from gateway_kit.hook_calls import said
from gateway_kit.mock_vendor import Scene
from gateway_kit.providers.chat_requests import question

from .harness import Bench
from .sample_calls import mark, marked, odd, records, usual
from .subject import Subject
from .timing import LONGEST, timely

REFUSED = object()
"""Stands for the call that an interceptor refused properly."""

AT_ONCE = 16
"""How many calls are on their way at the same time."""

Check = Callable[[Bench, Any], Awaitable[None]]
"""Of one interceptor."""


def intercepting(subject: Subject) -> Iterator[Case]:
    """What holds of every interceptor that the extension brings."""
    for name, (advice, check) in _CHECKS.items():
        yield Case(
            name=f"{subject.module}: interceptor: {name}", advice=advice, run=_each(subject, check)
        )
    yield Case(
        name=f"{subject.module}: interceptor: in a gateway",
        advice="Let an ordinary call pass, or refuse it with a GatewayError that says why.",
        run=_served,
    )


def _each(subject: Subject, check: Check) -> Callable[[Bench], Any]:
    async def run(bench: Bench) -> None:
        found = list(said(subject.plugin, "register_interceptors"))
        expect(found, "it registers no interceptor")
        for interceptor in found:
            await check(bench, interceptor)

    return run


async def _ordered(bench: Bench, interceptor: Any) -> None:
    order, required = interceptor.order, interceptor.required
    expect(type(order) is int, f"order is {order!r}")
    expect(type(required) is bool, f"required is {required!r}")


async def _gives(bench: Bench, interceptor: Any) -> None:
    for about, call in usual(bench.vendor):
        given = await _before(interceptor, call, about)
        if given is not REFUSED:
            expect(isinstance(given, Call), f"{about}: before() gives {type(given).__name__}")
            same = (given.kind, given.format, given.stream) == (call.kind, call.format, call.stream)
            expect(same, f"{about}: it changes what the client waits for")


async def _agrees(bench: Bench, interceptor: Any) -> None:
    for about, call in usual(bench.vendor):
        given = await _before(interceptor, call, about)
        if isinstance(given, Call):
            expect(_members(given.body) == dict(given.members), f"{about}: members and body differ")


async def _holds(bench: Bench, interceptor: Any) -> None:
    for about, call in usual(bench.vendor):
        await timely(partial(_before, interceptor, call, about), f"{about}: before()")
    for record in records():
        await timely(partial(_after, interceptor, record), "after()")


async def _takes_odd(bench: Bench, interceptor: Any) -> None:
    for about, call in odd():
        given = await _before(interceptor, call, about)
        is_sound = given is REFUSED or isinstance(given, Call)
        expect(is_sound, f"{about}: before() gives {type(given).__name__}")


async def _apart(bench: Bench, interceptor: Any) -> None:
    asked = (_before(interceptor, marked(each), "many at once") for each in range(AT_ONCE))
    for number, given in enumerate(await asyncio.gather(*asked)):
        others = [mark(each) for each in range(AT_ONCE) if each != number]
        mixed = isinstance(given, Call) and any(each in given.body for each in others)
        expect(not mixed, "a call goes on with the words of another one")


async def _records(bench: Bench, interceptor: Any) -> None:
    for record in records():
        kept = dict(record)
        await _after(interceptor, record)
        expect(record == kept, "after() changes the record, which others look at too")
        await _after(interceptor, {**record, "a_member_of_a_later_version": 1})


async def _served(bench: Bench) -> None:
    """Every client format through a whole gateway."""
    for route in bench.vendor.routes():
        for stream in (False, True):
            scene = Scene(dialect=route.dialect, model=route.model.id, stream=stream)
            asked = question(bench.vendor, route, stream=stream)
            before = len(bench.warnings.told)
            answer = await bench.calls.ask(asked, scene.said())
            told = f"{route.client} is answered with {answer.status}: {answer.text[:200]}"
            expect(answer.status < 500, told)
            await bench.gateway.core.ledger.flush()
            expect(len(bench.warnings.told) == before, "; ".join(bench.warnings.told[before:]))


async def _before(interceptor: Any, call: Call, about: str) -> Any:
    """The call to go on with, or REFUSED. Raises Unmet."""
    try:
        async with asyncio.timeout(LONGEST):
            return await interceptor.before(call)
    except TimeoutError:
        raise Unmet(f"{about}: before() is not done after {LONGEST:g} seconds") from None
    except GatewayError as error:
        sound = 400 <= error.status < 600 and bool(error.message)
        expect(sound, f"{about}: it refuses with status {error.status} and {error.message!r}")
        return REFUSED
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
        raise Unmet(f"{about}: {type(error).__name__}: {error}") from error


async def _after(interceptor: Any, record: Any) -> None:
    try:
        async with asyncio.timeout(LONGEST):
            await interceptor.after(record)
    except TimeoutError:
        raise Unmet(f"after() is not done after {LONGEST:g} seconds") from None
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
        raise Unmet(f"after() raises {type(error).__name__}: {error}") from error


def _members(body: bytes) -> dict[str, Any]:
    try:
        return dict(members_of(body))
    except BadRequest:
        return {}


_CHECKS: dict[str, tuple[str, Check]] = {
    "order": ("Give order a whole number, and required True or False.", _ordered),
    "in time": ("Await what takes time, and give up soon: every call waits for it.", _holds),
    "gives a call": ("Give back from before() the call to go on with.", _gives),
    "body and members": (
        "Change a call with msgspec.structs.replace, its members together with its body.",
        _agrees,
    ),
    "odd calls": ("Raise nothing but a GatewayError, whatever a body holds.", _takes_odd),
    "apart": ("Keep nothing of one call where another call finds it.", _apart),
    "records": ("Take any record in after(): most members may be None.", _records),
}
