"""Threads for work on the disk."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_POOL = ThreadPoolExecutor(8, "files")
"""Apart from the loop's own threads, so that slow disks and many uploads keep nobody else waiting.
None of them is started before there is work."""


async def run(work: Callable[[], T]) -> T:
    """Run blocking work in a thread."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


async def run_whole(work: Callable[[], T]) -> T:
    """The same. Whoever is cancelled meanwhile goes on only once the work is over: what it uses may
    be closed then."""
    task = asyncio.ensure_future(run(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
