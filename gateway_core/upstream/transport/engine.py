"""The engine of httpx2, made to dial only addresses that have been checked.

Its pool is used without httpx2's client: a carrier of bytes needs no cookies,
redirects or default headers, and only the pool accepts a network backend.
"""

import asyncio
import re
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import unquote

import httpcore2
import socksio

from ...contracts.errors import TransportError
from .addresses import AddressPolicy
from .descriptors import DESCRIPTORS
from .dialling import Tls
from .failures import (
    MalformedRequest,
    MalformedUrl,
    connect_timeout,
    proxy_failed,
    unreachable,
)
from .guard import AddressGuard
from .limits import TransportLimits
from .urls import PORTS, bracket, split

PROXY = re.compile(
    r"(?P<scheme>https?|socks5h?)://"
    r"(?:(?P<user>[^:@/?#\s]*)(?::(?P<password>[^@/?#\s]*))?@)?"
    r"(?P<authority>[^@/?#\\\s]+)/?",
    re.IGNORECASE,
)
SOCKS = ("socks5", "socks5h")

BAD_PROXY = (httpcore2.ProxyError, socksio.SOCKSError, struct.error, AssertionError)
"""The engine passes on whatever its SOCKS parser raises for a malformed answer."""
BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError)

READ_AHEAD = ((socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024),)
"""Bounds what arrives before it is asked for. The engine's streams stop reading only after a task
has read from them: until then uvloop takes whatever the kernel has, which may be megabytes."""

FORGOTTEN = (".setup_socks5_connection.failed", ".start_tls.failed")
"""Trace events after which the pool drops a connection without closing it."""


class Backend(httpcore2.AsyncNetworkBackend):
    """Opens the pool's connections."""

    def __init__(
        self,
        guard: AddressGuard,
        policy: AddressPolicy,
        options: tuple[httpcore2.SOCKET_OPTION, ...] = (),
    ) -> None:
        self._guard = guard
        self._policy = policy
        self._options = options
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        async with in_time(timeout):
            addresses = await self._guard.addresses(host.strip("[]"), port, self._policy)
        share = None if timeout is None else timeout / len(addresses)
        failure: Exception = unreachable()
        for address in addresses:
            try:
                stream = await self._inner.connect_tcp(
                    address, port, share, socket_options=self._options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
                continue
            try:
                self._guard.check_peer(
                    stream.get_extra_info("client_addr"), stream.get_extra_info("server_addr")
                )
            except TransportError:
                await stream.aclose()
                raise
            return stream
        raise failure


class Witness:
    """Follows one request through the pool and closes what the pool would leave open.

    The pool forgets a connection whose SOCKS greeting fails or whose TLS
    handshake is cancelled, without closing it.
    """

    def __init__(self) -> None:
        self._stream: httpcore2.AsyncNetworkStream | None = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith(".connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith(FORGOTTEN) and self._stream is not None:
            await self._stream.aclose()


def open_pool(
    proxy: httpcore2.Proxy | None,
    backend: Backend,
    limits: TransportLimits,
    tls: Tls,
    *,
    public: bool,
    upgrades: bool,
) -> httpcore2.AsyncConnectionPool:
    """A pool over one proxy, or over none.

    A public destination is named by its address, so two names may share one;
    its connections are not kept, lest one name's requests travel on another's.
    Connections that are upgraded to another protocol begin as HTTP/1.1.
    """
    kept = not (public or upgrades)
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls(),
        proxy=proxy,
        max_connections=limits.connections,
        max_keepalive_connections=limits.connections if kept else 0,
        keepalive_expiry=limits.keep_alive,
        http2=kept,
        network_backend=backend,
    )


def read_proxy(text: str, tls: Tls) -> httpcore2.Proxy:
    """Read a proxy's URL. Raises MalformedUrl."""
    parts = PROXY.fullmatch(text)
    if parts is None:
        raise MalformedUrl("the proxy's URL is malformed")
    scheme = parts["scheme"].lower()
    host, port = split(parts["authority"], PORTS[scheme])
    user = parts["user"]
    return httpcore2.Proxy(
        httpcore2.URL(scheme=scheme, host=bracket(host), port=port, target="/"),
        auth=None if user is None else (unquote(user), unquote(parts["password"] or "")),
        ssl_context=tls() if scheme == "https" else None,
    )


@asynccontextmanager
async def in_time(seconds: float | None) -> AsyncIterator[None]:
    """Give up what takes longer to find its way."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise connect_timeout() from error


@contextmanager
def translate_errors(
    timed_out: Callable[[], TransportError], broken: Callable[[], TransportError]
) -> Iterator[None]:
    """Turn the engine's errors into ours."""
    try:
        yield
    except (httpcore2.ConnectTimeout, httpcore2.PoolTimeout) as error:
        raise connect_timeout() from error
    except httpcore2.TimeoutException as error:
        raise timed_out() from error
    except httpcore2.ConnectError as error:
        raise DESCRIPTORS.lack(error) or unreachable() from error
    except (httpcore2.LocalProtocolError, httpcore2.UnsupportedProtocol) as error:
        raise MalformedRequest("the connection does not carry it") from error
    except BAD_PROXY as error:
        raise proxy_failed() from error
    except BROKEN as error:
        raise broken() from error
