"""Turns of gateways on several machines that share a folder: the database gives them.

A lock of a file need not hold between machines: it does not on every kind of share. A transaction
of the database does: writes of all gateways on one PostgreSQL take turns, and a turn ends when its
process is gone.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.database import Database

from .store import Exclusion


def exclusion_of(core: Collaborators) -> Exclusion | None:
    """For a folder that gateways on one database share; to be called in the event loop."""
    if core.environment.files_dir is None or core.stores.database.engine != "postgres":
        return None
    loop, database = asyncio.get_running_loop(), core.stores.database
    return lambda: _turn(database, loop)


@contextmanager
def _turn(database: Database, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wait for a turn in a thread that is not the event loop's. Raises StorageUnavailable."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with database.transaction():
            begun.set()
            await over.wait()

    async def begin() -> "asyncio.Task[None]":
        holding = asyncio.create_task(hold())
        beginning = asyncio.create_task(begun.wait())
        await asyncio.wait((holding, beginning), return_when=asyncio.FIRST_COMPLETED)
        beginning.cancel()
        if holding.done():
            holding.result()
        return holding

    async def end(holding: "asyncio.Task[None]") -> None:
        over.set()
        await holding

    holding = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(end(holding), loop).result()
