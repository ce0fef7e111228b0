"""Turns a host into addresses that have been checked, so that only those are dialled."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Sequence

from .addresses import (
    PUBLIC_PORTS,
    Address,
    AddressPolicy,
    allows,
    is_literal,
    read_address,
    unwrap,
)
from .descriptors import DESCRIPTORS
from .failures import AddressForbidden, unresolved

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""A host name to its addresses, in the order to try them. Raises OSError."""

REMEMBERED = 20.0
"""Seconds a look-up is remembered."""
NAMES = 256
"""Look-ups remembered."""
ANY = frozenset({"0.0.0.0", "::"})


async def system_resolve(host: str) -> list[str]:
    """Ask the operating system."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class AddressGuard:
    """Looks a name up once, tests every address it has, and remembers it for a moment.

    ``refuse`` holds the gateway's own listeners as (ip, port); a listener on
    every address (``0.0.0.0`` or ``::``) refuses its port on this machine.
    """

    def __init__(
        self,
        *,
        resolve: Resolve = system_resolve,
        refuse: frozenset[tuple[str, int]] = frozenset(),
        public_ports: frozenset[int] = PUBLIC_PORTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolve = resolve
        self._public_ports = public_ports
        self._clock = clock
        self._own = frozenset((read_address(ip), port) for ip, port in refuse if ip not in ANY)
        self._own_ports = frozenset(port for ip, port in refuse if ip in ANY)
        self._known: dict[str, tuple[float, tuple[Address, ...]]] = {}
        self._lookups: dict[str, asyncio.Lock] = {}

    async def addresses(self, host: str, port: int, policy: AddressPolicy) -> list[str]:
        """Every address of the host, all of them allowed.

        Raises AddressForbidden when one is not, TransportError when there is none.
        """
        self._check_port(port, policy)
        addresses = (read_address(host),) if is_literal(host) else await self._look_up(host)
        # One forbidden address refuses the host: a name that mixes public and internal addresses
        # is how a request is made to reach inside (SSRF).
        for address in addresses:
            self._check(address, port, policy)
        return [str(address) for address in addresses]

    def check_literal(self, host: str, port: int, policy: AddressPolicy) -> None:
        """Test what can be tested without a look-up. Raises AddressForbidden."""
        self._check_port(port, policy)
        if is_literal(host):
            self._check(read_address(host), port, policy)

    def check_peer(self, here: tuple[str, int], there: tuple[str, int]) -> None:
        """Refuse a connection that has turned out to lead to this machine's own listener."""
        # Equal addresses on both ends are this machine, whatever name or interface led to it.
        if there[1] in self._own_ports and here[0] == there[0]:
            raise AddressForbidden("it is the gateway itself")

    def _check_port(self, port: int, policy: AddressPolicy) -> None:
        if policy is AddressPolicy.PUBLIC and port not in self._public_ports:
            raise AddressForbidden("its port is not one of the web's")

    def _check(self, address: Address, port: int, policy: AddressPolicy) -> None:
        if not allows(policy, address):
            raise AddressForbidden("it is not in a permitted network")
        if any(self._is_own(layer, port) for layer in unwrap(address)):
            raise AddressForbidden("it is the gateway itself")

    def _is_own(self, address: Address, port: int) -> bool:
        return (address, port) in self._own or (port in self._own_ports and address.is_loopback)

    async def _look_up(self, host: str) -> tuple[Address, ...]:
        known = self._remembered(host)
        if known:
            return known
        # One look-up at a time per name: a thousand new connections ask once.
        lock = self._lookups.setdefault(host, asyncio.Lock())
        try:
            async with lock:
                # Another task may have finished the same look-up while this one waited.
                known = self._remembered(host)
                if known:
                    return known
                try:
                    addresses = tuple(read_address(text) for text in await self._resolve(host))
                except (OSError, UnicodeError) as error:
                    raise DESCRIPTORS.lack(error) or unresolved() from error
                if not addresses:
                    raise unresolved()
                # Taken out first, so that the dict stays in the order of the look-ups and its
                # first name is the oldest.
                self._known.pop(host, None)
                if len(self._known) >= NAMES:
                    del self._known[next(iter(self._known))]
                self._known[host] = (self._clock() + REMEMBERED, addresses)
                return addresses
        finally:
            if not lock.locked():
                self._lookups.pop(host, None)

    def _remembered(self, host: str) -> tuple[Address, ...]:
        until, addresses = self._known.get(host, (0.0, ()))
        return addresses if until > self._clock() else ()

    def forget(self, host: str) -> None:
        """Look this name up anew next time, because its addresses did not answer."""
        self._known.pop(host, None)
