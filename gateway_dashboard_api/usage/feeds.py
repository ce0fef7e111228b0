"""Pictures of usage for everybody who watches: each period is looked at once for all of them."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable

import msgspec

from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.moments import local_day

from ..admin_context import AdminContext
from .overview import build_overview
from .periods import named_period

LOOK_EVERY = 1.0
"""Seconds between two looks whether something has changed."""
PING_AFTER = 25.0
PING = b": ping\n\n"
SHARE = 0.1
"""How much of the time may go into making pictures of a large ledger."""
log = logging.getLogger(__name__)
Mark = tuple[int, int, str]
"""Differs whenever a picture would: the newest row, what is on its way, the day."""


class Feed:
    """One period's newest picture, and a signal that is given with the next one."""

    def __init__(self) -> None:
        self.watchers = 0
        self.mark: Mark | None = None
        self.frame = b""
        self.next = asyncio.Event()
        self.making = asyncio.Lock()

    def publish(self, frame: bytes, mark: Mark) -> None:
        self.frame, self.mark = frame, mark
        self.wake()

    def wake(self) -> None:
        self.next.set()
        self.next = asyncio.Event()


class Feeds:
    """Every period that somebody watches."""

    def __init__(
        self,
        admin: AdminContext,
        *,
        every: float = LOOK_EVERY,
        ping: float = PING_AFTER,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._admin = admin
        self._trouble = FailureLog(log, "Reading usage for the dashboard", "It is tried again.")
        self._every = every
        self._ping = ping
        self._monotonic = monotonic
        self._feeds: dict[str, Feed] = {}
        self._looking: asyncio.Task[None] | None = None
        self._rest_until = 0.0
        self.made = 0
        """How many pictures were made."""

    async def watch(self, period: str) -> AsyncGenerator[bytes, None]:
        """Frames of an event stream: the picture now, then each newer one, and pings."""
        feed = self._feeds.setdefault(period, Feed())
        feed.watchers += 1
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        try:
            await self._make(period, feed, await self._mark())
            sent = None
            while not self._admin.core.state.is_stopping:
                upcoming = feed.next
                if feed.mark != sent:
                    sent = feed.mark
                    yield feed.frame
                elif not await self._is_set(upcoming):
                    yield PING
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._feeds[period]
            if not self._feeds and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _is_set(self, event: asyncio.Event) -> bool:
        try:
            async with asyncio.timeout(self._ping):
                await event.wait()
        except TimeoutError:
            return False
        return True

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if self._admin.core.state.is_stopping:
                for feed in self._feeds.values():
                    feed.wake()
                continue
            if self._monotonic() < self._rest_until:
                continue
            try:
                mark = await self._mark()
                for period, feed in list(self._feeds.items()):
                    await self._make(period, feed, mark)
            except Exception as error:
                self._trouble.met(error)
            else:
                self._trouble.over()

    async def _make(self, period: str, feed: Feed, mark: Mark) -> None:
        """A new picture, unless the feed has one as new."""
        async with feed.making:
            if feed.mark == mark:
                return
            began = self._monotonic()
            overview = await build_overview(
                self._admin, named_period(period, self._admin.core.clock())
            )
            feed.publish(b"data: " + msgspec.json.encode(overview) + b"\n\n", mark)
            self.made += 1
            took = self._monotonic() - began
            self._rest_until = self._monotonic() + took / SHARE

    async def _mark(self) -> Mark:
        admin = self._admin
        newest = await admin.stores.reports.last_id()
        day = local_day(admin.core.clock()).isoformat()
        return newest, admin.core.in_flight.changes, day
