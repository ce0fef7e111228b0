"""The connections to one origin: kept, lent out, counted and queued for."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from .connection import UpstreamConnection
from .failures import queue_timeout, shutting_down, unreachable
from .limits import ConnectionCounts, TransportLimits

Waiter = asyncio.Future[UpstreamConnection | None]
"""Gets a free connection, or ``None`` for the right to open one."""


class Pool:
    """At most ``limits.connections`` to one origin; who comes first is served first."""

    def __init__(
        self,
        limits: TransportLimits,
        dial: Callable[[], Awaitable[UpstreamConnection]],
        emptied: Callable[[], None],
    ) -> None:
        """``dial`` opens a connection; ``emptied`` is called whenever nothing is left."""
        self._limits = limits
        self._dial = dial
        self._emptied = emptied
        self._idle: dict[UpstreamConnection, None] = {}
        self._connections: set[UpstreamConnection] = set()
        self._places = 0
        self._waiters: OrderedDict[Waiter, None] = OrderedDict()
        self._closed = False

    def take(self) -> UpstreamConnection | None:
        """The connection that was used last, if one is idle."""
        return self._idle.popitem()[0] if self._idle else None

    async def open(self) -> UpstreamConnection:
        """A new connection, or the next that becomes free when there are too many."""
        if self._places >= self._limits.connections:
            connection = await self._queue()
            if connection is not None:
                return connection
        else:
            self._places += 1
        return await self._fill_place()

    async def replace(self) -> UpstreamConnection:
        """A connection instead of one that was found dead: a new one when there is room."""
        if self._places >= self._limits.connections and self._idle:
            return self._idle.popitem()[0]
        return await self.open()

    def counts(self) -> ConnectionCounts:
        return ConnectionCounts(open=self._places, idle=len(self._idle), waiting=len(self._waiters))

    def close(self) -> None:
        """Close every connection and turn away everybody who waits."""
        self._closed = True
        for waiter in tuple(self._waiters):
            if not waiter.done():
                waiter.set_exception(shutting_down())
        for connection in tuple(self._connections):
            connection.abort()

    # What a connection tells its owner.

    def take_back(self, connection: UpstreamConnection) -> None:
        waiter = self._next_waiter() if self._waiters else None
        if waiter is None:
            self._idle[connection] = None
        else:
            waiter.set_result(connection)

    def retire(self, connection: UpstreamConnection) -> None:
        self._idle.pop(connection, None)

    def lose(self, connection: UpstreamConnection) -> None:
        self._idle.pop(connection, None)
        self._connections.discard(connection)
        self._give_up_place()

    async def _fill_place(self) -> UpstreamConnection:
        """Open a connection in a place that is already counted."""
        try:
            connection = await self._dial()
            if self._closed:
                connection.abort()
                raise shutting_down()
            if connection.closed:
                raise unreachable()
        except BaseException:
            self._give_up_place()
            raise
        connection.owner = self
        self._connections.add(connection)
        return connection

    def _give_up_place(self) -> None:
        waiter = self._next_waiter()
        if waiter is not None:
            waiter.set_result(None)
            return
        self._places -= 1
        if not self._places:
            self._emptied()

    def _next_waiter(self) -> Waiter | None:
        while self._waiters:
            waiter, _ = self._waiters.popitem(last=False)
            if not waiter.done():
                return waiter
        return None

    async def _queue(self) -> UpstreamConnection | None:
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        self._waiters[waiter] = None
        alarm = loop.call_later(self._limits.connect, give_up, waiter)
        try:
            return await waiter
        except BaseException:
            self._waiters.pop(waiter, None)
            self._return_gift(waiter)
            raise
        finally:
            alarm.cancel()

    def _return_gift(self, waiter: Waiter) -> None:
        """Pass on what came in the moment its receiver went away."""
        if not waiter.done() or waiter.cancelled() or waiter.exception() is not None:
            return
        connection = waiter.result()
        if connection is None:
            self._give_up_place()
        elif not connection.closed:
            self.take_back(connection)


def give_up(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_exception(queue_timeout())
