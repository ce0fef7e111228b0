"""Registers the routes of batches, and runs them in the background."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from . import completion_routes, message_routes, operator_batches
from .batches import batches_of
from .settings import BatchSettings

GATEWAY_PROTOCOL = 1


@hookimpl
def register_settings() -> type[BatchSettings]:
    return BatchSettings


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    core = host.core
    return [
        *completion_routes.routes(core),
        *message_routes.routes(core),
        *operator_batches.routes(core),
    ]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return _running(host)


@asynccontextmanager
async def _running(host: Host) -> AsyncIterator[None]:
    """Run batches until the block ends."""
    scheduler = batches_of(host.core).scheduler
    task = asyncio.create_task(scheduler.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await scheduler.close()
