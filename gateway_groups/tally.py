"""What a group has used, in memory: the sums of the database, and the calls that ended since."""

import asyncio
import time
from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core.contracts.errors import Unavailable
from gateway_core.metering.ledger import record_of
from gateway_core.metering.limits import RELOAD_AFTER
from gateway_core.metering.request_record import RequestRecord
from gateway_core.metering.timestamps import Timestamps
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.stores.key_usage import KeySpent, used_by

from .group import Group
from .store import spent_by


class Tally:
    """Counts for one group in one process; sums are read again every ten seconds."""

    def __init__(self, core: Collaborators, group: Group) -> None:
        self._core, self._group = core, group
        self._timestamps = Timestamps(None)
        self._spent = KeySpent(day="")
        self._loaded_at = 0.0
        self._under_way: list[RequestRecord] = []
        self._loading = asyncio.Lock()

    async def spent(self) -> KeySpent:
        """What its keys have used by now. Raises Unavailable."""
        if self._is_stale():
            async with self._loading:
                if self._is_stale():
                    await self._load()
        self._count_ended()
        return self._spent

    def begin(self, record: RequestRecord) -> None:
        """A call is let in; it counts once it is over."""
        self._under_way.append(record)

    def _is_stale(self) -> bool:
        is_of_today = self._spent.day == self._core.limits.today()
        return not is_of_today or time.monotonic() - self._loaded_at > RELOAD_AFTER

    async def _load(self) -> None:
        core, day = self._core, self._core.limits.today()
        keys = await keys_of(core, self._group)
        try:
            # While the ledger is still, each of its rows is in the database or waits.
            async with core.ledger.paused():
                spent = await spent_by(core.stores.database, keys, day)
                known = frozenset(keys)
                for key, its_day, used in core.ledger.unwritten():
                    if key in known:
                        spent = spent.plus(used, its_day)
                self._count_ended()  # They are in the sums: what counting them gives is dropped.
                self._spent = spent
        except Exception:
            # Old sums of this day stand in, as they do for keys.
            if self._spent.day != day:
                raise Unavailable("Database temporarily unavailable") from None
        self._loaded_at = time.monotonic()

    def _count_ended(self) -> None:
        """Add the calls that are over."""
        ended = [record for record in self._under_way if record.is_recorded]
        if not ended:
            return
        self._under_way = [record for record in self._under_way if not record.is_recorded]
        for record in ended:
            row = record_of(record, self._core.prices, self._timestamps)
            if row.attempts == 0:
                continue
            self._spent = self._spent.plus(used_by(row), row.day)
            if self._group.minute is not None:
                self._core.limits.record(replace(row, api_key_id=self._group.minute.id))


async def keys_of(core: Collaborators, group: Group) -> Sequence[str]:
    """The ids of the keys that are in a group. Raises what the database raises."""
    rows = await core.stores.database.fetch("SELECT id, name FROM api_keys ORDER BY id")
    return [row["id"] for row in rows if group.has(row["id"], row["name"])]
