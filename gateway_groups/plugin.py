"""Keeps the limits of groups of keys: puts them on the path of calls while there are some."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from . import routes
from .settings import Settings

if TYPE_CHECKING:
    from .reservations import Reservations

GATEWAY_PROTOCOL = 1


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return routes.routes(host.core)


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return _running(host)


@asynccontextmanager
async def _running(host: Host) -> AsyncIterator[None]:
    in_force = GroupsInForce(host)
    settings, before = host.core.plugin_settings, host.core.plugin_settings.on_change

    def follow() -> None:
        before()
        in_force.take()

    in_force.take()
    settings.on_change = follow
    try:
        yield
    finally:
        await in_force.end()


class GroupsInForce:
    """Follows the settings. A gateway that never had groups has nothing of them in memory."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._settings: object = None
        self._reservations: Reservations | None = None
        self._tending: asyncio.Task[None] | None = None

    def take(self) -> None:
        """Put the groups that are set now on the path of calls."""
        core, settings = self._host.core, self._host.settings
        if settings is self._settings or not isinstance(settings, Settings):
            return
        self._settings = settings
        if not settings.groups:
            core.state.group_limits = None
            return
        # Imported only here, because most gateways have no groups.
        from .admission import GroupAdmission
        from .reservations import Reservations

        if self._reservations is None:
            self._reservations = Reservations(core)
            self._tending = asyncio.create_task(self._reservations.follow())
        core.state.group_limits = GroupAdmission(core, settings, self._reservations)

    async def end(self) -> None:
        """Settle what is over. Calls that are still under way go on with their groups' limits."""
        if self._tending is None or self._reservations is None:
            return
        self._tending.cancel()
        with suppress(asyncio.CancelledError):
            await self._tending
        await self._reservations.tend()
