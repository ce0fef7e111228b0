"""The direct carrier: our own pooled HTTP/1.1 client."""

import asyncio
from collections.abc import Iterator
from functools import partial

from msgspec import Struct

from ...contracts.errors import TransportError
from ...contracts.exchange import UpstreamRequest, UpstreamResponse
from .answers import UpstreamAnswer
from .connection import UpstreamConnection
from .decoding import decoded
from .dialling import Dialler
from .failures import Stale, shutting_down
from .heads import RequestBytes, write
from .limits import ConnectionCounts, TransportLimits
from .pool import Pool
from .urls import Url, parse


class SentRequest(Struct, frozen=True):
    """A request that is on its way on a kept connection."""

    url: Url
    message: RequestBytes
    connection: UpstreamConnection
    answer: UpstreamAnswer


class Direct:
    """Sends over kept connections, one pool per origin. Follows no redirects, uses no proxy."""

    def __init__(self, dialler: Dialler, limits: TransportLimits) -> None:
        self._dialler = dialler
        self._limits = limits
        self._pools: dict[str, Pool] = {}
        self._closed = False
        self._emptied = asyncio.Event()

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Send and wait for the head of the answer. Raises TransportError.

        A request is sent a second time only when it went out on a kept
        connection that died without a single byte of answer.
        """
        url = parse(request.url)
        message = write(request, url, self._limits)
        pool = self._pool(url)
        # No await between taking a connection and writing to it, or its alarm could close it.
        kept = None if request.once else pool.take()
        connection = kept or await pool.open()
        try:
            answer = await connection.exchange(message)
        except Stale as stale:
            answer = await self._send_again(url, message, stale)
        return await decoded(answer) if answer.is_coded else answer

    async def reach(self, address: str) -> None:
        """Have a connection ready for a request to this address. Raises TransportError."""
        pool = self._pool(parse(address))
        connection = pool.take() or await pool.open()
        connection.rest()

    def begin(self, request: UpstreamRequest) -> SentRequest | None:
        """Send at once; ``None``, and nothing is sent, where no kept connection is free.

        Raises TransportError for a request that cannot be sent at all.
        """
        url = parse(request.url)
        message = write(request, url, self._limits)
        pool = self._pools.get(url.origin)
        connection = None if pool is None else pool.take()
        if connection is None:
            return None
        try:
            return SentRequest(url, message, connection, connection.begin(message))
        except Stale:
            return None

    async def finish(self, begun: SentRequest) -> UpstreamResponse:
        """Wait for the head of an answer, as ``send`` does. Raises TransportError."""
        try:
            answer = await begun.connection.headed(begun.answer)
        except Stale as stale:
            answer = await self._send_again(begun.url, begun.message, stale)
        return await decoded(answer) if answer.is_coded else answer

    def counts(self) -> Iterator[ConnectionCounts]:
        """One for every origin that has connections."""
        return (pool.counts() for pool in self._pools.values())

    async def aclose(self) -> None:
        """Close every connection; pending requests get a TransportError."""
        self._closed = True
        for pool in tuple(self._pools.values()):
            pool.close()
        await self._dialler.stop()
        # ``connection_lost`` comes in a later turn of the loop: sockets are closed only then.
        while self._pools:
            self._emptied.clear()
            await self._emptied.wait()

    async def _send_again(self, url: Url, message: RequestBytes, stale: Stale) -> UpstreamAnswer:
        try:
            connection = await self._pool(url).replace()
            return await connection.exchange(message)
        except TransportError as error:
            # The first time may have reached the provider.
            error.sent = error.sent or stale.sent
            raise

    def _pool(self, url: Url) -> Pool:
        pool = self._pools.get(url.origin)
        if pool is None:
            if self._closed:
                raise shutting_down()
            pool = self._pools[url.origin] = Pool(
                self._limits,
                partial(self._dialler.dial, url),
                partial(self._remove_pool, url.origin),
            )
        return pool

    def _remove_pool(self, origin: str) -> None:
        self._pools.pop(origin, None)
        self._emptied.set()
