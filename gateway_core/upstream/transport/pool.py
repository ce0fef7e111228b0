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
    """At most ``limits.connections`` to one origin; waiting requests are served in order."""

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
        # The least used ones then stay idle long enough to be closed.
        return self._idle.popitem()[0] if self._idle else None

    async def open(self) -> UpstreamConnection:
        """A new connection, or the next that becomes free when there are too many."""
        if self._places >= self._limits.connections:
            connection = await self._queue()
            if connection is not None:
                return connection
        else:
            # Counted before the first await, or tasks that dial at once would exceed the limit.
            self._places += 1
        try:
            connection = await self._dial()
            # Both can happen while the dial is awaited.
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

    async def replace(self) -> UpstreamConnection:
        """A connection instead of one that was found dead: a new one when there is room."""
        if self._places >= self._limits.connections and self._idle:
            return self._idle.popitem()[0]
        return await self.open()

    def counts(self) -> ConnectionCounts:
        return ConnectionCounts(open=self._places, idle=len(self._idle), waiting=len(self._waiters))

    def close(self) -> None:
        """Close every connection and fail every waiting request."""
        self._closed = True
        for waiter in tuple(self._waiters):
            if not waiter.done():
                waiter.set_exception(shutting_down())
        for connection in tuple(self._connections):
            connection.abort()

    # What a connection reports to its owner.

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

    def _give_up_place(self) -> None:
        waiter = self._next_waiter()
        if waiter is not None:
            # The place stays counted: the one who waited fills it.
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
        """Wait in line. Raises TransportError when nothing becomes free in time."""
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        self._waiters[waiter] = None
        alarm = loop.call_later(self._limits.connect, give_up, waiter)
        try:
            return await waiter
        except BaseException:
            self._waiters.pop(waiter, None)
            # A task can be cancelled in the turn of the loop in which its waiter got a result:
            # what it got goes to the next one in the queue.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                connection = waiter.result()
                if connection is None:
                    self._give_up_place()
                elif not connection.closed:
                    self.take_back(connection)
            raise
        finally:
            alarm.cancel()


def give_up(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_exception(queue_timeout())
