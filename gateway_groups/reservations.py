"""What calls under way have reserved: before they are sent, until their rows are in the ledger.

```text
reserve ── one transaction: used + reserved + this call's most ≤ limit ──▶ row
settle  ── the call's usage row is written ──▶ its reservation is removed
expire  ── a process that lives renews its rows; those of one that is gone end by themselves
```

A call is therefore in the sums, among the reservations, or for a moment in both, but never in
neither: the limit is a bound for all processes on one database.
"""

import asyncio
import logging
import secrets
from collections.abc import Sequence

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.stores.key_usage import KeySpent, Spending

from . import store
from .group import Group
from .tally import keys_of

LEASE = 60.0
"""Seconds for which a reservation stands that nobody renews."""
RENEW_EVERY = 15.0
SETTLE_EVERY = 1.0
SOON = 1.0
"""Seconds after which to ask again where only other calls' reservations are in the way."""

log = logging.getLogger(__name__)


class Reservations:
    """Those of one process; they outlive a change of the settings."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._process = secrets.token_hex(8)
        self._under_way: dict[str, RequestRecord] = {}
        """By request id, all that may have a reservation."""
        self._turn = asyncio.Lock()
        self._renewed_at = 0.0
        self._trouble = FailureLog(
            log, "Settling reservations of groups", "They stand, and it is tried again."
        )

    async def reserve(self, group: Group, record: RequestRecord, most: Spending) -> None:
        """Let in a call that may use so much. Raises LimitExceeded, Unavailable."""
        core = self._core
        async with self._turn:
            try:
                await self._settle()
                spent, held = await self._reserve(group, record, most)
            except GatewayError:
                raise
            except Exception:
                log.exception("group %s: a call could not be reserved", group.name)
                raise Unavailable("Database temporarily unavailable") from None
        reached = group.reached(spent, held, most)
        if reached is not None:
            limit, is_held = reached
            wait = SOON if is_held else limit.until(core.limits, core.clock())
            raise group.refused(limit, spent, held, most, wait)

    async def held(self, group: Group) -> Spending:
        """What is reserved of a group now, by all processes."""
        return await store.reserved(self._core.stores.database, group.name, self._core.clock())

    async def follow(self) -> None:
        """Settle and renew until cancelled."""
        while True:
            await asyncio.sleep(SETTLE_EVERY)
            await self.tend()

    async def tend(self) -> None:
        """Settle what is over, and renew the rest when it is time. Never raises."""
        if not self._under_way:
            return
        try:
            async with self._turn:
                await self._settle()
                await self._renew()
        except Exception as error:
            self._trouble.met(error)
        else:
            self._trouble.over()

    async def _reserve(
        self, group: Group, record: RequestRecord, most: Spending
    ) -> tuple[KeySpent, Spending]:
        """What was used and reserved before; the row is written if there is room."""
        core, now = self._core, self._core.clock()
        keys: Sequence[str] = await keys_of(core, group)
        # Known before there is a row, so that a row is removed whatever interrupts this.
        self._under_way[record.request_id] = record
        async with core.stores.database.transaction() as transaction:
            await store.expire(transaction, now)
            spent = await store.spent_by(transaction, keys, core.limits.today())
            held = await store.reserved(transaction, group.name, now)
            if group.reached(spent, held, most) is None:
                await store.reserve(
                    transaction, record.request_id, group.name, self._process, most, now + LEASE
                )
        return spent, held

    async def _settle(self) -> None:
        """Remove the reservations of calls whose rows are written. Raises what the database
        raises."""
        ended = [id for id, record in self._under_way.items() if record.is_recorded]
        await self._core.ledger.flush()
        if not ended:
            return
        await self._release(ended)
        for id in ended:
            del self._under_way[id]

    async def _release(self, ended: Sequence[str]) -> None:
        async with self._core.stores.database.transaction() as transaction:
            await store.release(transaction, ended)

    async def _renew(self) -> None:
        now = self._core.clock()
        if self._under_way and now - self._renewed_at >= RENEW_EVERY:
            await store.renew(self._core.stores.database, self._process, now + LEASE)
            self._renewed_at = now
