"""Whether new requests are to be sent to this process, for balancers and orchestrators."""

import asyncio
import time
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from ..pipeline.context import Collaborators
from ..storage.errors import StorageUnavailable

Reason = Literal["draining", "database away"]

LONGEST_WAIT = 2.0
"""Seconds for the database; probes mostly wait longer."""
FRESH = 1.0
"""Seconds for which a result is repeated, so that nobody loads the database by asking."""


class ReadinessReport(Struct, frozen=True):
    ready: bool
    reason: Reason | UnsetType = UNSET
    """Why not."""


class Readiness:
    """Asks the database once, however many wait to be told."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._probe: asyncio.Task[bool] | None = None
        self._fresh_until = 0.0

    async def report(self) -> ReadinessReport:
        if self._core.state.is_draining:
            return ReadinessReport(ready=False, reason="draining")
        if not await self._is_database_there():
            return ReadinessReport(ready=False, reason="database away")
        return ReadinessReport(ready=True)

    async def _is_database_there(self) -> bool:
        probe = self._probe
        if probe is None or (probe.done() and time.monotonic() >= self._fresh_until):
            probe = self._probe = asyncio.create_task(self._ask_database())
        # One client that goes away takes the answer from nobody else.
        return await asyncio.shield(probe)

    async def _ask_database(self) -> bool:
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._core.stores.database.fetch("SELECT 1")
        except (StorageUnavailable, TimeoutError):
            return False
        finally:
            self._fresh_until = time.monotonic() + FRESH
        return True
