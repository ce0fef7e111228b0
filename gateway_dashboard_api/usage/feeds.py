"""Live usage for event streams: each period is computed once for all its watchers."""

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

CHECK_EVERY = 1.0
"""Seconds between two checks for changes."""
PING_AFTER = 25.0
PING = b": ping\n\n"
SHARE = 0.1
"""Share of the time that may be spent on computing overviews of a large ledger."""
log = logging.getLogger(__name__)
Mark = tuple[int, int, str]
"""Changes whenever an overview does: the newest row, requests in flight, the day."""


class Feed:
    """One period's newest overview, and an event that is set with the next one."""

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
    """The feeds of all watched periods."""

    def __init__(
        self,
        admin: AdminContext,
        *,
        every: float = CHECK_EVERY,
        ping: float = PING_AFTER,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._admin = admin
        self._failures = FailureLog(log, "Reading usage for the dashboard", "It is tried again.")
        self._every = every
        self._ping = ping
        self._monotonic = monotonic
        self._feeds: dict[str, Feed] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._pause_until = 0.0
        self.computed = 0
        """How many overviews were computed."""

    async def watch(self, period: str) -> AsyncGenerator[bytes, None]:
        """Yield frames of an event stream: the overview now, each newer one, and pings."""
        feed = self._feeds.setdefault(period, Feed())
        feed.watchers += 1
        if self._watcher is None:
            self._watcher = asyncio.get_running_loop().create_task(self._watch_ledger())
        try:
            await self._make(period, feed, await self._mark())
            sent = None
            while not self._admin.core.state.is_stopping:
                # Taken before the check, so that an overview published meanwhile is not missed.
                upcoming = feed.next
                if feed.mark != sent:
                    sent = feed.mark
                    yield feed.frame
                    continue
                try:
                    async with asyncio.timeout(self._ping):
                        await upcoming.wait()
                except TimeoutError:
                    yield PING
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._feeds[period]
            if not self._feeds and self._watcher is not None:
                self._watcher.cancel()
                self._watcher = None

    async def _watch_ledger(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if self._admin.core.state.is_stopping:
                for feed in self._feeds.values():
                    feed.wake()
                continue
            if self._monotonic() < self._pause_until:
                continue
            try:
                mark = await self._mark()
                for period, feed in list(self._feeds.items()):
                    await self._make(period, feed, mark)
            except Exception as error:
                self._failures.met(error)
            else:
                self._failures.over()

    async def _make(self, period: str, feed: Feed, mark: Mark) -> None:
        """Compute a new overview, unless the feed's is current."""
        async with feed.making:
            if feed.mark == mark:
                return
            started = self._monotonic()
            overview = await build_overview(
                self._admin, named_period(period, self._admin.core.clock())
            )
            feed.publish(b"data: " + msgspec.json.encode(overview) + b"\n\n", mark)
            self.computed += 1
            took = self._monotonic() - started
            self._pause_until = self._monotonic() + took / SHARE

    async def _mark(self) -> Mark:
        admin = self._admin
        newest = await admin.reports.last_id()
        day = local_day(admin.core.clock()).isoformat()
        return newest, admin.core.in_flight.changes, day
