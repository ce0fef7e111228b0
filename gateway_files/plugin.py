"""Registers the routes of files, and removes what is left over or has expired."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from gateway_core import hookimpl
from gateway_core.contracts.errors import GatewayError
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from . import operator_files, routes
from .kept_elsewhere import AnyStore
from .limits import store_of
from .threads import run

GATEWAY_PROTOCOL = 1
CHECK_EVERY = 600.0
"""Seconds between two checks whether a file has expired."""
log = logging.getLogger(__name__)


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return [*routes.routes(host.core), *operator_files.routes(host.core)]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return swept(host)


@asynccontextmanager
async def swept(host: Host) -> AsyncIterator[None]:
    """Remove leftovers now, and expired files from time to time until the block ends."""
    store = store_of(host.core)
    try:
        await run(store.clean)
    except (OSError, GatewayError) as error:  # That is no reason not to start.
        log.warning("what is left over of files is removed later: %s", error)
    task = asyncio.create_task(_remove_expired(store))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _remove_expired(store: AnyStore) -> None:
    while True:
        try:
            await run(store.remove_expired)
        except OSError:
            log.exception("expired files could not be removed")
        except GatewayError as error:
            log.warning("expired files could not be removed: %s", error)
        await asyncio.sleep(CHECK_EVERY)
