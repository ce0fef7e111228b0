"""Work for a thread, which is not left behind by a request that is cancelled."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def run_whole(work: Callable[[], T]) -> T:
    """Run blocking work in a thread. Whoever is cancelled meanwhile goes on only once it is over:
    what it uses may be closed then."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
