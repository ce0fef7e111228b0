"""Registers the native facade."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from .charges import recover_charges
from .routes import routes

GATEWAY_PROTOCOL = 1


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return routes(host.core, host.core.snapshot.registry.providers.values())


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return _recovered(host)


@asynccontextmanager
async def _recovered(host: Host) -> AsyncIterator[None]:
    await recover_charges(host.core)
    yield
