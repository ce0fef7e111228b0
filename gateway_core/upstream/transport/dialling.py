"""Opens connections to addresses that have been checked."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import cached_property, partial

from ...contracts.errors import TransportError
from .addresses import AddressPolicy
from .connection import ROOM, UpstreamConnection
from .descriptors import DESCRIPTORS
from .failures import connect_timeout, insecure, shutting_down, unreachable
from .guard import AddressGuard
from .limits import TransportLimits
from .spans import Spans
from .urls import Url

Tls = Callable[[], ssl.SSLContext]
"""Makes a new client context, which checks certificates."""


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
        """A new connection to the URL's origin. Raises TransportError with ``sent`` false, and
        Unavailable when no descriptor is free.

        Tries the host's addresses in order, each for its share of the time that is left.
        """
        loop = asyncio.get_running_loop()
        try:
            async with self._spans.limit(self._limits.connect):
                end = loop.time() + self._limits.connect
                addresses = await self._guard.addresses(url.host, url.port, self._policy)
                for left in range(len(addresses), 0, -1):
                    try:
                        async with asyncio.timeout((end - loop.time()) / left):
                            return await self._connect(addresses[-left], url)
                    except OSError as error:  # TimeoutError is one of them.
                        failure = error
                # The addresses may be outdated: a host that moved is looked up again next time.
                self._guard.forget(url.host)
                raise failure
        except TimeoutError as error:
            raise (shutting_down() if self._spans.ended else connect_timeout()) from error
        except ssl.SSLError as error:
            raise insecure() from error
        except OSError as error:
            raise DESCRIPTORS.lack(error) or unreachable() from error

    async def stop(self) -> None:
        """End every attempt under way."""
        await self._spans.end()

    async def _connect(self, address: str, url: Url) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        secure = url.scheme == "https"
        # The checked address is dialled, never the name: a second look-up could give another
        # address (DNS rebinding). Certificates are still checked against the name.
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
