"""A socket for datagrams that is bound to every address of the machine, where Linux tells which.

A client takes answers only from the address that it has written to. So that
one stands behind the client's own in every ``Address`` here, in the system's
form, and an answer leaves from it. A socket that is bound to one address needs
nothing of this.
"""

import asyncio
import ipaddress
import logging
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

log = logging.getLogger(__name__)

MOST = 64 * 1024
"""Bytes that a datagram may have."""
AT_ONCE = 32
"""Datagrams that are read before others have their turn."""
WAITING = 1024
"""Datagrams that wait until the system takes more; what comes then is lost on the way."""
_V4 = struct.Struct("=I4s4s")
_V6 = struct.Struct("=16sI")
_ROOM = socket.CMSG_SPACE(_V6.size) if hasattr(socket, "CMSG_SPACE") else 0
# Of <linux/in.h>; Python names only those of IPv6.
_IP_PKTINFO = 8

Address = tuple[Any, ...]


def is_wide(at: socket.socket) -> bool:
    """Whether its datagrams come to several addresses, and it can be told to which."""
    return sys.platform == "linux" and ipaddress.ip_address(at.getsockname()[0]).is_unspecified


def widen(at: socket.socket) -> None:
    """Have a socket tell which address a datagram came to. Raises OSError."""
    if at.family == socket.AF_INET6:
        at.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    else:
        at.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)


def take(at: socket.socket) -> tuple[bytes, Address]:
    """A datagram and its address. Raises OSError."""
    data, told, _, address = at.recvmsg(MOST, _ROOM)
    return data, (*address, _own(at.family, told[0][2]) if told else b"")


def give(at: socket.socket, data: bytes, address: Address) -> None:
    """Send from the address that the client knows. Raises OSError."""
    *client, own = address
    is_v6 = at.family == socket.AF_INET6
    level, kind = (
        (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO) if is_v6 else (socket.IPPROTO_IP, _IP_PKTINFO)
    )
    at.sendmsg([data], [(level, kind, own)] if own else [], 0, tuple(client))


def _own(family: int, told: bytes) -> bytes:
    """Where an answer is to leave from. The way there is the system's choice, but for addresses
    that mean something on one link alone."""
    if family == socket.AF_INET6:
        address, link = _V6.unpack(told[: _V6.size])
        is_local = ipaddress.IPv6Address(address).is_link_local
        return _V6.pack(address, link if is_local else 0)
    _, local, _ = _V4.unpack(told[: _V4.size])
    return _V4.pack(0, local, bytes(4))


class Wide(asyncio.DatagramTransport):
    """Carries datagrams between such a socket and whoever takes them."""

    def __init__(self, at: socket.socket, taken: Callable[[bytes, Address], None]) -> None:
        super().__init__({"sockname": at.getsockname(), "socket": at})
        self._at, self._taken = at, taken
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[bytes, Address]] = deque()
        self._is_closing = False
        self._loop.add_reader(at, self._read)

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        """Read nothing more; what waits is sent first."""
        if not self._is_closing:
            self._is_closing = True
            self._loop.remove_reader(self._at)
            self._close_if_empty()

    def sendto(self, data: Any, addr: Any = None) -> None:
        if self._waiting:
            if len(self._waiting) < WAITING:
                self._waiting.append((bytes(data), addr))
        elif not self._sent(data, addr):
            self._waiting.append((bytes(data), addr))
            self._loop.add_writer(self._at, self._write)

    def _read(self) -> None:
        for _ in range(AT_ONCE):
            try:
                data, address = take(self._at)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                log.debug("a datagram was not taken: %r", error)
                return
            self._taken(data, address)
            if self._is_closing:
                return

    def _write(self) -> None:
        while self._waiting and self._sent(*self._waiting[0]):
            self._waiting.popleft()
        if not self._waiting:
            self._loop.remove_writer(self._at)
            self._close_if_empty()

    def _sent(self, data: bytes, address: Address) -> bool:
        """Whether the system has taken it, or never will."""
        try:
            give(self._at, data, address)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            log.debug("a datagram was not sent: %r", error)
        return True

    def _close_if_empty(self) -> None:
        if self._is_closing and not self._waiting:
            self._at.close()
