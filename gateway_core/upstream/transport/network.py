"""Every outgoing connection of a gateway: its carriers, their limits and their end."""

import ssl
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...contracts.exchange import Transport, UpstreamRequest
from .addresses import PUBLIC_PORTS, AddressPolicy
from .dialling import Dialler, Tls
from .direct import Direct
from .failures import shutting_down
from .guard import AddressGuard, Resolve, system_resolve
from .limits import ConnectionCounts, TransportLimits
from .urls import parse

if TYPE_CHECKING:
    from .proxied import Proxied
    from .websocket import VendorSocket


class Network:
    """The only door to the network out; several may live in one interpreter.

    ``refuse`` holds the gateway's own listeners as (ip, port), so that it
    never calls itself. Belongs to the event loop it is first used on.
    """

    def __init__(
        self,
        limits: TransportLimits = TransportLimits(),  # noqa: B008  # frozen
        *,
        tls: Tls = ssl.create_default_context,
        resolve: Resolve = system_resolve,
        refuse: frozenset[tuple[str, int]] = frozenset(),
        public_ports: frozenset[int] = PUBLIC_PORTS,
    ) -> None:
        self._limits = limits
        self._tls = tls
        self._guard = AddressGuard(resolve=resolve, refuse=refuse, public_ports=public_ports)
        self._direct: dict[AddressPolicy, Direct] = {}
        self._usual: Direct | None = None
        """The one for operators' own addresses, which nearly every call takes."""
        self._proxied: dict[tuple[str | None, AddressPolicy], Proxied] = {}
        self._upgrading: dict[tuple[str | None, AddressPolicy], Proxied] = {}
        self._closed = False

    def transport(
        self,
        proxy: str | None = None,
        *,
        policy: AddressPolicy = AddressPolicy.OPERATOR,
        http2: bool = False,
    ) -> Transport:
        """A transport, shared by all callers with the same arguments.

        ``proxy`` is an http, https, socks5 or socks5h URL, user info allowed;
        raises TransportError when it is malformed. HTTP/2 is spoken over a
        proxy wherever it is offered, and without one when ``http2`` asks for it.
        """
        if self._closed:
            raise shutting_down()
        if proxy is None and not http2:
            return self._direct.get(policy) or self._add_direct(policy)
        carrier = self._proxied.get((proxy, policy))
        if carrier is None:
            # Its engine is large and most gateways need none of it.
            from .proxied import Proxied

            carrier = Proxied(proxy, self._guard, policy, self._limits, self._tls)
            self._proxied[proxy, policy] = carrier
        return carrier

    async def connect(
        self,
        request: UpstreamRequest,
        proxy: str | None = None,
        *,
        subprotocols: Sequence[str] = (),
        policy: AddressPolicy = AddressPolicy.OPERATOR,
    ) -> "VendorSocket":
        """Open a WebSocket: a GET to an http or https address, over the proxy where there is one.

        Raises TransportError, and UpstreamError where the handshake is refused.
        """
        if self._closed:
            raise shutting_down()
        from .websocket import open_socket

        carrier = self._upgrading.get((proxy, policy))
        if carrier is None:
            from .proxied import Proxied

            carrier = Proxied(proxy, self._guard, policy, self._limits, self._tls, upgrades=True)
            self._upgrading[proxy, policy] = carrier
        return await open_socket(carrier, request, subprotocols)

    @property
    def direct(self) -> Direct:
        """The way out without a proxy. Raises TransportError."""
        if self._closed:
            raise shutting_down()
        return self._usual or self._add_direct(AddressPolicy.OPERATOR)

    async def permit(self, url: str, policy: AddressPolicy = AddressPolicy.PUBLIC) -> None:
        """Check a URL that somebody else will fetch.

        Raises MalformedUrl, AddressForbidden, or TransportError when its name is unknown.
        """
        parsed = parse(url)
        await self._guard.addresses(parsed.host, parsed.port, policy)

    def counts(self) -> ConnectionCounts:
        """Connections of the direct carrier at this moment."""
        return total(chain.from_iterable(direct.counts() for direct in self._direct.values()))

    async def aclose(self) -> None:
        """Close everything; nothing is left open, waiting or ticking."""
        self._closed = True
        for direct in self._direct.values():
            await direct.aclose()
        for proxied in (*self._proxied.values(), *self._upgrading.values()):
            await proxied.aclose()

    def _add_direct(self, policy: AddressPolicy) -> Direct:
        dialler = Dialler(self._guard, policy, self._limits, self._tls)
        direct = self._direct[policy] = Direct(dialler, self._limits)
        if policy is AddressPolicy.OPERATOR:
            self._usual = direct
        return direct


def total(counts: Iterable[ConnectionCounts]) -> ConnectionCounts:
    listed = tuple(counts)
    return ConnectionCounts(
        open=sum(each.open for each in listed),
        idle=sum(each.idle for each in listed),
        waiting=sum(each.waiting for each in listed),
    )
