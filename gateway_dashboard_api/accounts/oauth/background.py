"""Keeps the logins of a gateway alive while it runs. Without any it imports and does nothing."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from gateway_core.contracts.provider import ProviderSpec
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import Account
from gateway_core.storage.failure_log import FailureLog

if TYPE_CHECKING:
    from .renewal import Renewals

LOOK_EVERY = 10.0
"""Seconds between two looks for tokens that expire soon."""
log = logging.getLogger(__name__)


class Keeper:
    """Renews what is due, off the path of requests, and what a vendor refuses."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    @cached_property
    def renewals(self) -> "Renewals":
        # Most gateways have no logins.
        from .renewal import Renewals

        return Renewals(self._core)

    async def renew(self, spec: ProviderSpec, account: Account) -> Account | None:
        """As ``Renewals.renew``."""
        return await self.renewals.renew(spec, account)

    async def look(self) -> None:
        accounts = self._core.snapshot.accounts.values()
        if any(each.is_login for group in accounts for each in group):
            await self.renewals.look()

    async def close(self) -> None:
        if "renewals" in self.__dict__:
            await self.renewals.close()


@asynccontextmanager
async def kept_alive(core: Collaborators) -> AsyncIterator[None]:
    """Look in the background until the block ends."""
    keeper = Keeper(core)

    async def look_regularly() -> None:
        failures = FailureLog(log, "Renewing logins", "It is tried again.")
        while True:
            try:
                await keeper.look()
            except Exception as error:
                failures.met(error)
            else:
                failures.over()
            await asyncio.sleep(LOOK_EVERY)

    core.state.renew_login = keeper.renew
    task = asyncio.create_task(look_regularly())
    try:
        yield
    finally:
        core.state.renew_login = None
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await keeper.close()
