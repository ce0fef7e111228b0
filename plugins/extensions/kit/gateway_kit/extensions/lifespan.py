"""Cases about a life span: it begins and ends quickly, any number of times, and leaves nothing."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from itertools import count

from gateway_core.contracts.errors import Forbidden
from gateway_kit.case import Case, CaseFailed, Run, expect, expect_none
from gateway_kit.hook_calls import call_hook

from .harness import ExtensionHarness, arguments_of, open_gateway
from .open_resources import count_open, find_leaks
from .subject import ExtensionUnderTest
from .timing import expect_prompt

LONGEST = 1.0
"""Seconds to close a gateway that has nothing else to do, on a busy machine."""


CASES: dict[str, tuple[str, Run]] = {}
"""By the case's name: its advice and its check."""


def lifespan_case(name: str, advice: str) -> Callable[[Run], Run]:
    """Add a case to CASES."""

    def add(run: Run) -> Run:
        CASES[name] = (advice, run)
        return run

    return add


def lifespan_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """Cases that apply to every extension."""
    for name, (advice, run) in CASES.items():
        yield _case(subject, name, advice, run)
    if not subject.trusted:
        advice = (
            "Take what the Host offers; say trusted=True when only the whole gateway will do, "
            "which an operator has to grant."
        )
        yield _case(subject, "untrusted", advice, partial(_untrusted, subject))


def _case(subject: ExtensionUnderTest, name: str, advice: str, run: Run) -> Case:
    return Case(name=f"{subject.module}: life: {name}", advice=advice, run=run, alone=True)


@lifespan_case("quick", "Do slow work in a task, so that the gateway opens and closes at once.")
async def opens_and_closes_quickly(harness: ExtensionHarness) -> None:
    tries = count()
    async with AsyncExitStack() as stack:

        def open_one() -> Awaitable[object]:
            folder = harness.folder / f"quick-{next(tries)}"
            return stack.enter_async_context(
                open_gateway(harness.plugins, folder, harness.declared_settings())
            )

        await expect_prompt(open_one, "opening a gateway")
        opened_at = time.monotonic()
    took = time.monotonic() - opened_at
    expect(took < LONGEST, f"a gateway takes {took:.1f} seconds to close")


@lifespan_case(
    "again and again",
    "Keep nothing at module level that the next gateway in the same process would meet.",
)
async def opens_again(harness: ExtensionHarness) -> None:
    settings = harness.declared_settings()
    for number in ("first", "second", "third"):
        warnings = len(harness.warnings.messages)
        async with open_gateway(harness.plugins, harness.folder / "again", settings):
            pass
        expect_none(f"the {number} time: {each}" for each in harness.warnings.messages[warnings:])


@lifespan_case(
    "nothing left", "End every task and thread and close every file when the life span is left."
)
async def leaves_nothing(harness: ExtensionHarness) -> None:
    settings = harness.declared_settings()
    async with open_gateway(harness.plugins, harness.folder / "left", settings):
        pass
    before = count_open()
    async with open_gateway(harness.plugins, harness.folder / "left", settings):
        pass
    expect_none(await find_leaks(before))


async def _untrusted(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    """Its hooks work with what an untrusted plugin gets."""
    async with open_gateway(harness.formats, harness.folder / "untrusted") as gateway:
        arguments = arguments_of(gateway, subject.module)
        try:
            call_hook(subject.plugin, "register_routes", arguments)
            if "lifespan" in subject.hooks:
                async with call_hook(subject.plugin, "lifespan", arguments):
                    pass
        except Forbidden as error:
            raise CaseFailed(error.message) from error
