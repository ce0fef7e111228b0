"""What a process holds: tasks, threads and open files; to see whether something was left behind."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Iterator

from msgspec import Struct

SETTLE = 0.5
"""Seconds in which what has been told to end may still be there."""
_HANDLES = ("/proc/self/fd", "/dev/fd")


class OpenResources(Struct, frozen=True):
    tasks: frozenset[int]
    threads: frozenset[int]
    handles: int
    """Open files and sockets; 0 where the system does not tell."""


def count_open() -> OpenResources:
    """What is held now."""
    gc.collect()
    return OpenResources(
        frozenset(map(id, asyncio.all_tasks())),
        frozenset(each.ident or 0 for each in threading.enumerate()),
        _handles(),
    )


async def find_leaks(before: OpenResources) -> list[str]:
    """What has come since and does not go, in sentences."""
    deadline = time.monotonic() + SETTLE
    while (leaks := list(_leaks(before))) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return leaks


def _leaks(before: OpenResources) -> Iterator[str]:
    for task in asyncio.all_tasks():
        if id(task) not in before.tasks:
            yield f"the task {task.get_coro()} still runs"
    for thread in threading.enumerate():
        if thread.ident not in before.threads:
            yield f"the thread {thread.name} still runs"
    files = _handles() - before.handles
    if files > 0:
        yield f"{files} files or sockets are still open"


def _handles() -> int:
    for place in _HANDLES:
        try:
            return len(os.listdir(place))
        except OSError:
            continue
    return 0
