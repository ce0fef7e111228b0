"""The sockets that datagrams come by: one for each worker, all on one port.

The system gives what comes from one client's address to one of them. A client
whose address changes is known by another worker then, to which what it sends
is passed on.
"""

import contextlib
import socket
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from .wide import MOST, Address, is_wide, take, widen

ROOM = 2 * 1024 * 1024
"""How many bytes of datagrams the system is asked to keep until they are read."""


class Post(Struct, frozen=True):
    """One worker's end."""

    number: int
    """The worker's."""
    incoming: socket.socket
    inbox: socket.socket
    outboxes: Sequence[socket.socket]
    """Of all workers, in their order."""
    others: Sequence[socket.socket] = ()
    """Where datagrams come in for the other workers."""

    def pass_on(self, number: int, data: bytes, address: Address) -> None:
        """Give a datagram to the worker it is for; it is lost if that one is busy."""
        if number != self.number and number < len(self.outboxes):
            with contextlib.suppress(OSError):
                self.outboxes[number].send(msgspec.msgpack.encode((data, address)))

    def passed_on(self) -> list[tuple[bytes, Address]]:
        """What other workers got for this one."""
        found: list[tuple[bytes, Address]] = []
        with contextlib.suppress(BlockingIOError):
            while len(found) < ROOM // MOST:
                passed = self.inbox.recv(2 * MOST)
                found.append(msgspec.msgpack.decode(passed, type=tuple[bytes, Address]))
        return found


def arrived(at: socket.socket) -> list[tuple[bytes, Address]]:
    """What has come at another worker's socket."""
    wide = is_wide(at)
    found: list[tuple[bytes, Address]] = []
    with contextlib.suppress(OSError):
        while len(found) < ROOM // MOST:
            found.append(take(at) if wide else at.recvfrom(MOST))
    return found


def open_posts(listener: socket.socket, workers: int) -> list[Post]:
    """A post for each worker, at the address where ``listener`` waits. Raises OSError."""
    sockets = [_bound(listener, is_shared=workers > 1) for _ in range(workers)]
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(workers)]
    for each in (end for pair in pairs for end in pair):
        each.setblocking(False)
    outboxes = tuple(outbox for _, outbox in pairs)
    return [
        Post(number, own, inbox, outboxes, [each for each in sockets if each is not own])
        for number, (own, (inbox, _)) in enumerate(zip(sockets, pairs, strict=True))
    ]


def close_posts(posts: Sequence[Post]) -> None:
    for post in posts:
        for each in (post.incoming, post.inbox, post.outboxes[post.number]):
            each.close()


def _bound(listener: socket.socket, *, is_shared: bool) -> socket.socket:
    own = socket.socket(listener.family, socket.SOCK_DGRAM)
    try:
        if listener.family == socket.AF_INET6:
            own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if is_shared:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        with contextlib.suppress(OSError):
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        own.setblocking(False)
        own.bind(listener.getsockname())
        if is_wide(own):
            widen(own)
    except OSError:
        own.close()
        raise
    return own
