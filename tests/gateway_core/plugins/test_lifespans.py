"""A plugin's lifespan harms nobody, however it goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway_core.plugins.guard import LoadGuard, PluginFailed
from gateway_core.plugins.lifespans import Lifespan

pytestmark = pytest.mark.anyio
SOON = 0.05


def life(begin: Any = None, end: Any = None) -> Any:
    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        if begin is not None:
            await begin()
        yield
        if end is not None:
            await end()

    return running()


async def hang() -> None:
    await asyncio.Event().wait()


async def cling() -> None:
    """Will not be told to stop, once."""
    try:
        await hang()
    except asyncio.CancelledError:
        await asyncio.sleep(0)


async def leave_the_process() -> None:
    raise SystemExit(3)


async def break_down() -> None:
    raise RuntimeError("a bug")


async def test_it_is_entered_and_left() -> None:
    seen: list[str] = []

    async def note(word: str) -> None:
        seen.append(word)

    lifespan = Lifespan("a", life(lambda: note("begun"), lambda: note("ended")), LoadGuard(5))
    await lifespan.enter()
    assert seen == ["begun"]

    await lifespan.leave()

    assert seen == ["begun", "ended"]


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (life(break_down), "RuntimeError: a bug"),
        (life(leave_the_process), "SystemExit: 3"),
        (life(hang), f"did not begin within {SOON} s"),
        (object(), "it returned object where an async context manager is expected"),
    ],
    ids=["raises", "ends the process", "hangs", "is none"],
)
async def test_one_that_does_not_begin_says_why(context: Any, reason: str) -> None:
    with pytest.raises(PluginFailed, match=f"^{reason}$"):
        await Lifespan("a", context, LoadGuard(SOON)).enter()


@pytest.mark.parametrize("end", [break_down, leave_the_process, hang, cling])
async def test_leaving_always_comes_to_an_end(end: Any) -> None:
    lifespan = Lifespan("a", life(end=end), LoadGuard(SOON))
    await lifespan.enter()

    await lifespan.leave()

    assert not lifespan.is_running


async def test_a_background_job_that_dies_takes_nobody_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            group.create_task(break_down())
            yield

    lifespan = Lifespan("a", running(), LoadGuard(5))
    await lifespan.enter()
    while lifespan.is_running:
        await asyncio.sleep(0)

    await lifespan.leave()

    assert "plugin a: its lifespan failed" in caplog.text
