"""Watching a piece of an extension run: how long it takes, and whether it lets others run."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway_kit.case import CaseFailed, expect

T = TypeVar("T")

LONGEST = 1.0
"""Seconds that a call may be held, on a busy machine; the usual is a thousandth of that."""
LONGEST_STOP = 0.2
"""Seconds for which nothing else may run."""
BEAT = 0.01


async def expect_prompt(work: Callable[[], Awaitable[T]], what: str) -> T:
    """Raises CaseFailed when it does not come back in time, or keeps everything else from running.

    A second try has to confirm that, for the machine may be busy.
    """
    result, seconds, longest = await _timed(work, what)
    if seconds > LONGEST or longest > LONGEST_STOP:
        result, seconds, longest = await _timed(work, what)
        expect(seconds <= LONGEST, f"{what} takes {seconds:.1f} seconds")
        expect(longest <= LONGEST_STOP, f"{what} stops everything else for {longest:.1f} seconds")
    return result


async def longest_stop(work: Callable[[], Awaitable[object]]) -> float:
    """The longest time for which nothing else could run meanwhile, seconds."""
    pauses = _PauseWatch()
    beating = asyncio.create_task(pauses.watch())
    await asyncio.sleep(0)
    try:
        await work()
        pauses.note()
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
    return max(0.0, pauses.longest - BEAT)


async def _timed(work: Callable[[], Awaitable[T]], what: str) -> tuple[T, float, float]:
    pauses = _PauseWatch()
    beating = asyncio.create_task(pauses.watch())
    await asyncio.sleep(0)
    started = time.monotonic()
    try:
        async with asyncio.timeout(2 * LONGEST):
            result = await work()
        await asyncio.sleep(0)
    except TimeoutError:
        raise CaseFailed(f"{what} is not done after {2 * LONGEST:g} seconds") from None
    finally:
        seconds = time.monotonic() - started
        pauses.note()
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
    return result, seconds, pauses.longest


class _PauseWatch:
    """Counts how long nothing else could run."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.monotonic()

    async def watch(self) -> None:
        while True:
            self.note()
            await asyncio.sleep(BEAT)

    def note(self) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, now - self._last)
        self._last = now
