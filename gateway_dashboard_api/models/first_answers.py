"""Looking for local servers that were not there before, so that the catalog shows their models."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from gateway_core.contracts.errors import UpstreamError
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.failure_log import FailureLog

from .own_servers import is_local

if TYPE_CHECKING:
    from ..admin_context import AdminContext

LOOK_EVERY = 10.0
"""Seconds between two looks."""
log = logging.getLogger(__name__)


class FirstAnswers:
    """Syncs each local server once, when it answers for the first time."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._synced: set[str] = set()
        """Providers that have answered since this process started."""

    @cached_property
    def _admin(self) -> "AdminContext":
        # What a sync needs takes 1 MiB, and many a gateway has no local server.
        from ..admin_context import AdminContext

        return AdminContext(self._core)

    async def look(self) -> None:
        """Ask each server that has not answered yet for its list, all at once."""
        tables = self._core.snapshot
        specs = (tables.registry.providers.get(provider) for provider in tables.accounts)
        local = (spec for spec in specs if spec is not None and is_local(spec))
        lists = (spec.id for spec in local if spec.is_node or spec.models_url is not None)
        await asyncio.gather(*(self._sync(each) for each in lists if each not in self._synced))

    async def _sync(self, provider: str) -> None:
        from .sync import sync_provider

        try:
            await sync_provider(self._admin, provider)
        except UpstreamError as error:
            if error.status >= 500:  # It is not there, or is still loading a model.
                return
        self._synced.add(provider)


@asynccontextmanager
async def awaited(core: Collaborators) -> AsyncIterator[None]:
    """Look in the background until the block ends."""
    servers = FirstAnswers(core)

    async def look_regularly() -> None:
        failures = FailureLog(log, "Looking for local servers", "It is tried again.")
        while True:
            # First, so that a start is not held up by it.
            await asyncio.sleep(LOOK_EVERY)
            try:
                await servers.look()
            except Exception as error:
                failures.met(error)
            else:
                failures.over()

    task = asyncio.create_task(look_regularly())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
