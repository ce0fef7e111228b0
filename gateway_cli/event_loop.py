"""The event loop that the gateway runs on: uvloop where it is installed, else asyncio's own."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable

from .listening import ServerError

UVLOOP, ASYNCIO = LOOPS = ("uvloop", "asyncio")

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def choose_loop(name: str | None = None) -> str:
    """The name of the loop: the given one, or the fastest that is installed. Raises ServerError."""
    is_there = importlib.util.find_spec(UVLOOP) is not None
    if name is None:
        return UVLOOP if is_there else ASYNCIO
    if name == UVLOOP and not is_there:
        raise ServerError("uvloop is not installed: pip install 'model-gateway[fast]'")
    return name


def loop_factory(name: str | None = None) -> LoopFactory:
    """Makes event loops of that kind. Raises ServerError."""
    if choose_loop(name) == ASYNCIO:
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop


def run(main: Callable[[], Awaitable[None]], loop: str | None = None) -> None:
    """Run to the end on an event loop of its own. Raises ServerError."""

    async def work() -> None:
        await main()

    with asyncio.Runner(loop_factory=loop_factory(loop)) as runner:
        runner.run(work())
