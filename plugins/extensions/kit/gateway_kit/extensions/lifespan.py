"""Cases about a life span: it begins and ends quickly, any number of times, and leaves nothing."""

import time
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from itertools import count

from gateway_core.contracts.errors import Forbidden
from gateway_kit.case import Case, Run, Unmet, expect, none_of
from gateway_kit.hook_calls import said

from .harness import Bench, given_by, opened
from .open_resources import held, left_since
from .subject import Subject
from .timing import timely

LONGEST = 1.0
"""Seconds to close a gateway that has nothing else to do, on a busy machine."""


def living(subject: Subject) -> Iterator[Case]:
    """What holds of an extension's life, whatever hooks it implements."""
    for name, (advice, run) in _CASES.items():
        yield _case(subject, name, advice, run)
    if not subject.trusted:
        advice = (
            "Take what the Host offers; say trusted=True when only the whole gateway will do, "
            "which an operator has to grant."
        )
        yield _case(subject, "untrusted", advice, partial(_untrusted, subject))


def _case(subject: Subject, name: str, advice: str, run: Run) -> Case:
    return Case(name=f"{subject.module}: life: {name}", advice=advice, run=run, alone=True)


async def _quick(bench: Bench) -> None:
    tries = count()
    async with AsyncExitStack() as stack:

        def opening() -> Awaitable[object]:
            folder = bench.folder / f"quick-{next(tries)}"
            return stack.enter_async_context(opened(bench.plugins, folder))

        await timely(opening, "opening a gateway")
        begun = time.monotonic()
    took = time.monotonic() - begun
    expect(took < LONGEST, f"a gateway takes {took:.1f} seconds to close")


async def _again(bench: Bench) -> None:
    for number in ("first", "second", "third"):
        told = len(bench.warnings.told)
        async with opened(bench.plugins, bench.folder / "again"):
            pass
        none_of(f"the {number} time: {each}" for each in bench.warnings.told[told:])


async def _nothing_left(bench: Bench) -> None:
    async with opened(bench.plugins, bench.folder / "left"):
        pass
    before = held()
    async with opened(bench.plugins, bench.folder / "left"):
        pass
    none_of(await left_since(before))


async def _untrusted(subject: Subject, bench: Bench) -> None:
    """Its hooks are content with what a plugin gets that nobody trusts."""
    async with opened(bench.formats, bench.folder / "untrusted") as gateway:
        given = given_by(gateway, subject.module)
        try:
            said(subject.plugin, "register_routes", given)
            if "lifespan" in subject.hooks:
                async with said(subject.plugin, "lifespan", given):
                    pass
        except Forbidden as error:
            raise Unmet(error.message) from error


_CASES: dict[str, tuple[str, Run]] = {
    "quick": ("Do slow work in a task, so that the gateway opens and closes at once.", _quick),
    "again and again": (
        "Keep nothing at module level that the next gateway in the same process would meet.",
        _again,
    ),
    "nothing left": (
        "End every task and thread and close every file when the life span is left.",
        _nothing_left,
    ),
}
