"""Opens connections to addresses that have been checked."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import cached_property, partial

from ...contracts.errors import TransportError
from .addresses import AddressPolicy
from .connection import ROOM, UpstreamConnection
from .failures import connect_timeout, insecure, shutting_down, unreachable
from .guard import AddressGuard
from .limits import TransportLimits
from .spans import Spans
from .urls import Url

Tls = Callable[[], ssl.SSLContext]
"""Makes a context of one's own, for a client that checks certificates."""


class Dialler:
    """Dials for one policy. Every address is checked, and only checked ones are dialled."""

    def __init__(
        self, guard: AddressGuard, policy: AddressPolicy, limits: TransportLimits, tls: Tls
    ) -> None:
        self._guard = guard
        self._policy = policy
        self._limits = limits
        self._make_tls = tls
        self._spans = Spans()
        self._room = memoryview(bytearray(ROOM))

    async def dial(self, url: Url) -> UpstreamConnection:
        """A fresh connection to the URL's origin. Raises TransportError with ``sent`` false."""
        try:
            async with self._spans.limit(self._limits.connect):
                return await self._reach(url)
        except TimeoutError as error:
            raise (shutting_down() if self._spans.ended else connect_timeout()) from error
        except ssl.SSLError as error:
            raise insecure() from error
        except OSError as error:
            raise unreachable() from error

    async def stop(self) -> None:
        """End every attempt under way."""
        await self._spans.end()

    async def _reach(self, url: Url) -> UpstreamConnection:
        """Try the host's addresses in order, each for its share of the time that is left."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.connect
        addresses = await self._guard.addresses(url.host, url.port, self._policy)
        for left in range(len(addresses), 0, -1):
            try:
                async with asyncio.timeout((end - loop.time()) / left):
                    return await self._connect(addresses[-left], url)
            except OSError as error:
                failure = error
        self._guard.forget(url.host)
        raise failure

    async def _connect(self, address: str, url: Url) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        secure = url.scheme == "https"
        transport, connection = await loop.create_connection(
            partial(UpstreamConnection, loop, self._limits, self._room),
            address,
            url.port,
            ssl=self._tls if secure else None,
            server_hostname=url.host if secure else None,
        )
        # A loop sets it only on sockets made with IPPROTO_TCP. Without it a short piece of a body
        # waits for the acknowledgement of the one before: RFC 896.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        here, there = (transport.get_extra_info(end) for end in ("sockname", "peername"))
        try:
            self._guard.check_peer(here, there)
        except TransportError:
            connection.abort()
            raise
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Reading the authorities takes milliseconds, so it waits for the first need.
        context = self._make_tls()
        context.set_alpn_protocols(["http/1.1"])
        return context
