"""Finished calls one by one, as they are written: each is read once for all its watchers.

The ledger raises its number in the transaction that writes rows, so rows of every process become
visible in the order of their ids.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Mapping

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import STREAM, Guarded
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.stores.usage import UsageRow

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from ..streams import Frames
from .bodies import LiveQuery
from .feeds import PING, PING_AFTER
from .filters import filter_parts
from .ledger.reports import Which
from .views import HistoryRow, history_row, names_of

PATH = "/api/usage/live"
CHECK_EVERY = 0.5
"""Seconds between two looks for new rows."""
MOST_ROWS = 500
"""Rows that are read at once."""
BEHIND = 1000
"""Rows that a slow watcher may lag behind before it misses some."""
RESUME = "last-event-id"
_ID = re.compile("[0-9]{1,18}")
log = logging.getLogger(__name__)
_COLUMNS: Mapping[str, str] = {
    "provider": "provider",
    "model": "model_sent",
    "connection_id": "connection_id",
    "api_key_id": "api_key_id",
    "endpoint": "endpoint",
    "combo_id": "combo_id",
    "status": "status",
}
"""The parts of a filter, and the members of a row that they are about."""


class Missed(Struct, frozen=True):
    """The event ``missed``: so many calls came faster than they were read."""

    missed: int


class Watcher:
    """One reader of the stream."""

    def __init__(self, which: Which) -> None:
        self.rows: asyncio.Queue[HistoryRow | None] = asyncio.Queue(BEHIND)
        """``None`` wakes the watcher without a row."""
        self.missed = 0
        self._parts = {_COLUMNS[name]: value for name, value in which.parts.items()}

    def wants(self, row: UsageRow) -> bool:
        return all((getattr(row, name) or "") == value for name, value in self._parts.items())

    def take(self, row: HistoryRow) -> None:
        if self.rows.full():
            self.missed += 1
        else:
            self.rows.put_nowait(row)

    def wake(self) -> None:
        if self.rows.empty():
            self.rows.put_nowait(None)


class LiveCalls:
    """The new rows of the ledger, for everybody who watches them."""

    def __init__(
        self, admin: AdminContext, *, every: float = CHECK_EVERY, ping: float = PING_AFTER
    ) -> None:
        self._admin = admin
        self._every, self._ping = every, ping
        self._failures = FailureLog(log, "Reading calls for the dashboard", "It is tried again.")
        self._watchers: set[Watcher] = set()
        self._reader: asyncio.Task[None] | None = None
        self._last = 0
        """The newest row that was passed on."""

    async def watch(self, which: Which, after: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield frames of an event stream: rows that are finished from now on, or after the row
        of that number, at most the newest ``MOST_ROWS`` of them; and pings."""
        watcher = Watcher(which)
        await self._admin.core.ledger.settle()
        if self._reader is None:
            self._last = await self._admin.reports.last_id()
            self._reader = asyncio.get_running_loop().create_task(self._follow())
        self._watchers.add(watcher)
        try:
            yield PING  # So that the head of the answer leaves at once.
            for row in [] if after is None else await self._rows_between(watcher, after):
                yield _frame(row)
            while not self._admin.core.state.is_stopping:
                if watcher.missed:
                    missed, watcher.missed = Missed(watcher.missed), 0
                    yield b"event: missed\ndata: " + msgspec.json.encode(missed) + b"\n\n"
                try:
                    async with asyncio.timeout(self._ping):
                        next_row = await watcher.rows.get()
                except TimeoutError:
                    yield PING
                else:
                    if next_row is not None:
                        yield _frame(next_row)
        finally:
            self._watchers.discard(watcher)
            if not self._watchers and self._reader is not None:
                self._reader.cancel()
                self._reader = None

    async def _rows_between(self, watcher: Watcher, after: int) -> list[HistoryRow]:
        """What a watcher that comes back has not seen of the rows passed on so far."""
        last, names = self._last, await names_of(self._admin)
        rows = await self._admin.reports.between(after, last, limit=MOST_ROWS)
        return [history_row(row, names) for row in rows if watcher.wants(row)]

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if self._admin.core.state.is_stopping:
                for watcher in self._watchers:
                    watcher.wake()
                continue
            try:
                await self._pass_on()
            except Exception as error:
                self._failures.met(error)
            else:
                self._failures.over()

    async def _pass_on(self) -> None:
        """Pass new rows on; of more than ``MOST_ROWS`` the newest, and the others are missed."""
        reports = self._admin.reports
        newest = await reports.last_id()
        if newest == self._last:
            return
        before, self._last = self._last, newest
        rows = await reports.between(before, newest, limit=MOST_ROWS)
        names = await names_of(self._admin)
        for row in rows:
            shown = history_row(row, names)
            for watcher in self._watchers:
                if watcher.wants(row):
                    watcher.take(shown)
        # Ids are given one by one, so the rows that were left out can be counted without a look.
        if left_out := max(0, newest - before - len(rows)) if len(rows) == MOST_ROWS else 0:
            for watcher in self._watchers:
                watcher.missed += left_out


def _frame(row: HistoryRow) -> bytes:
    return b"id: %d\ndata: " % row.id + msgspec.json.encode(row) + b"\n\n"


def routes(admin: AdminContext) -> list[Guarded]:
    calls = LiveCalls(admin)

    async def stream(admin: AdminContext, request: Request) -> Response:
        parameters = read_query(request, LiveQuery)
        after = parameters.after
        if _ID.fullmatch(resumed := request.headers.get(RESUME, "")):
            after = int(resumed)
        return Frames(calls.watch(filter_parts(admin, parameters), after))

    return [
        endpoint(
            admin,
            "GET",
            PATH,
            stream,
            "stream calls as they end",
            query=LiveQuery,
            answer=HistoryRow,
            media=STREAM,
            headers={RESUME: "The id of the last event that was read, as browsers send it."},
        )
    ]
