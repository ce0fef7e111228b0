"""HTTP/3 at the edge: what the network does to datagrams, and who may begin a connection."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicProtocolVersion
from certificates import Issued, issue
from h2_apps import MIB, Held, echo, much, settle
from h2_peer import PATIENCE, Place, place
from h3_peer import Peer3, configuration, peer3

from gateway_core.server import Door, Limits, listen
from gateway_core.server.datagrams import UNPROVEN, Datagrams
from gateway_core.server.http3 import Http3
from gateway_core.server.tls import TlsEntrance
from gateway_core.server.udp import close_posts, open_posts

pytestmark = pytest.mark.anyio


class Wire(asyncio.DatagramProtocol):
    """A way between a client and a server on which datagrams are lost, doubled and mixed up."""

    def __init__(self, port: int, spoil: Callable[[bytes], list[bytes]]) -> None:
        self.port, self.spoil = port, spoil
        self.client: Any = None
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if addr[1] == self.port:
            target = self.client
        else:
            target, self.client = ("127.0.0.1", self.port), addr
        for each in self.spoil(data):
            self.transport.sendto(each, target)


@asynccontextmanager
async def wire(here: Place, spoil: Callable[[bytes], list[bytes]]) -> AsyncIterator[Wire]:
    loop = asyncio.get_running_loop()
    transport, made = await loop.create_datagram_endpoint(
        lambda: Wire(here.port, spoil), local_addr=("127.0.0.1", 0)
    )
    try:
        yield made
    finally:
        transport.close()


def port_of(between: Wire) -> int:
    return int(between.transport.get_extra_info("sockname")[1])


def datagrams(here: Place) -> Datagrams:
    return next(v.host for v in here.door.visitors if isinstance(v, Http3))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(3))
async def test_nothing_is_lost_on_a_bad_way(issued: Issued, seed: int) -> None:
    chance = random.Random(seed)
    kept: list[bytes] = []

    def spoil(data: bytes) -> list[bytes]:
        what = chance.random()
        if what < 0.05:
            return []
        if what < 0.10:
            return [data, data]
        if what < 0.15:
            kept.append(data)
            return []
        if what < 0.18:
            place = chance.randrange(len(data))
            return [data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]]
        late, kept[:] = list(kept), []
        return [data, *late]

    bodies = [bytes([n]) * (n * 70_000) for n in range(1, 6)]
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(place(echo, issued, http3=True))
        between = await stack.enter_async_context(wire(here, spoil))
        peer = await stack.enter_async_context(peer3(port_of(between), issued))
        numbers = [peer.request(method=b"POST", body=body) for body in bodies]
        heard = await asyncio.gather(*map(peer.answer, numbers))

    assert [each.body for each in heard] == bodies


async def test_a_client_may_change_its_address(issued: Issued) -> None:
    held = Held()
    seen: list[Any] = []

    async def tells(scope: Any, receive: Any, send: Any) -> None:
        seen.append(tuple(scope["client"]))
        await held(scope, receive, send)

    loop = asyncio.get_running_loop()
    async with place(tells, issued, http3=True) as here, peer3(here.port, issued) as peer:
        first: Any = peer._transport
        own = first.get_extra_info("sockname")
        number = peer.request()
        await settle(lambda: held.begun)
        second, _ = await loop.create_datagram_endpoint(
            lambda: Elsewhere(peer), local_addr=("127.0.0.1", 0)
        )
        peer._transport = second
        held.go.set()
        peer.quic.send_ping(1)
        peer.transmit()
        heard = await peer.answer(number)
        await peer.answer(peer.request())
        first.close()
        second.close()

    assert heard.body == b"held"
    assert seen == [own, own]  # Who a client is was shown when it came, and is not taken on trust.


class Elsewhere(asyncio.DatagramProtocol):
    """Another socket of a client."""

    def __init__(self, peer: Peer3) -> None:
        self.peer = peer

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.peer.datagram_received(data, addr)


async def test_garbage_harms_nobody(issued: Issued) -> None:
    chance = random.Random(1)
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            for size in (0, 1, 5, 8, 9, 20, 1199, 1200, 1400, 60_000):
                for first in (0x00, 0x40, 0x7F, 0x80, 0xC0, 0xFF):
                    garbage = (bytes([first]) + chance.randbytes(size))[:size]
                    other.sendto(garbage, ("127.0.0.1", here.port))
        heard = await peer.answer(peer.request(method=b"POST", body=b"a"))
        connections = sum(isinstance(each, Http3) for each in here.door.visitors)

    assert heard.body == b"a"
    assert connections == 1


async def test_a_client_of_another_version_is_told_which_there_are(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.settimeout(PATIENCE)
            hello = bytes([0xC0]) + b"\x1a\x2a\x3a\x4a" + b"\x08abcdefgh" + b"\x04wxyz"
            other.sendto(hello + bytes(1200), ("127.0.0.1", here.port))
            heard = await asyncio.to_thread(other.recv, 2000)

    assert heard[1:5] == bytes(4)
    assert heard[5:19] == b"\x04wxyz" + b"\x08abcdefgh"
    assert int(QuicProtocolVersion.VERSION_1).to_bytes(4, "big") in heard[19:]


async def test_a_small_first_datagram_gets_no_answer(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            hello = bytes([0xC0]) + b"\x1a\x2a\x3a\x4a" + b"\x08abcdefgh" + b"\x04wxyz"
            other.sendto(hello, ("127.0.0.1", here.port))
            async with peer3(here.port, issued) as peer:
                await peer.answer(peer.request(method=b"POST", body=b"a"))
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.recv(2000)


async def test_many_handshakes_at_once_have_to_show_their_addresses(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, AsyncExitStack() as stack:
        await stack.enter_async_context(peer3(here.port, issued))
        under_way = datagrams(here)._unproven
        others: list[Any] = [object() for _ in range(UNPROVEN)]
        under_way.update(others)
        late = await stack.enter_async_context(peer3(here.port, issued))
        heard = await late.answer(late.request(method=b"POST", body=b"a"))
        retried = late.quic._retry_count
        under_way.difference_update(others)

    assert heard.body == b"a"
    assert retried == 1


async def test_handshakes_that_are_made_up_leave_room_for_others(issued: Issued) -> None:
    with ExitStack() as stack:
        async with place(echo, issued, http3=True, connections=10) as here:
            for _ in range(20):
                quic = QuicConnection(configuration=configuration(issued))
                quic.connect(("127.0.0.1", here.port), now=0.0)
                mute = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                mute.sendto(*quic.datagrams_to_send(now=0.0)[0])
            async with peer3(here.port, issued) as peer:
                heard = await peer.answer(peer.request(method=b"POST", body=b"a"))

    assert heard.body == b"a"


async def test_a_made_up_token_opens_nothing(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await enter(peer3(here.port, issued, token=b"made up" * 10))
        visitors = len(here.door.visitors)

    assert not visitors


async def enter(joined: Any) -> None:
    async with joined:
        pass


async def test_there_are_no_more_connections_than_there_may_be(issued: Issued) -> None:
    async with place(echo, issued, http3=True, connections=1) as here:
        async with peer3(here.port, issued) as peer:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await enter(peer3(here.port, issued))
            heard = await peer.answer(peer.request(method=b"POST", body=b"a"))
        await settle(lambda: not here.door.visitors)
        async with peer3(here.port, issued) as next_one:
            later = await next_one.answer(next_one.request(method=b"POST", body=b"b"))

    assert (heard.body, later.body) == (b"a", b"b")


async def test_what_has_ended_is_not_known_any_more(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here:
        async with peer3(here.port, issued) as peer:
            await peer.answer(peer.request(method=b"POST", body=b"a"))
            host = datagrams(here)
            before = len(host._connections)
        await settle(lambda: not host._connections)
        names, serving, under_way = host._names, host._serving, host._unproven

    assert before > 2
    assert (names, serving, under_way) == ({}, set(), set())


async def test_a_connection_that_fails_leaves_the_others(
    issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    serving = place(echo, issued, http3=True)
    async with serving as here, peer3(here.port, issued) as one, peer3(here.port, issued) as other:
        broken = next(v for v in here.door.visitors if isinstance(v, Http3))
        broken.heads.see = None  # type: ignore[assignment,method-assign]
        numbers = [each.request(method=b"POST", body=b"a") for each in (one, other)]
        heard = [await each.answer(n) for each, n in zip((one, other), numbers, strict=True)]
        left = sum(isinstance(each, Http3) for each in here.door.visitors)

    assert sorted(each.body for each in heard) == [b"", b"a"]
    assert left == 1
    assert "an HTTP/3 connection failed" in caplog.text


@pytest.mark.parametrize("what", ["datagrams_to_send", "handle_timer"])
async def test_a_connection_that_cannot_be_served_is_forgotten(
    issued: Issued, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    def broken(now: float) -> None:
        raise IndexError

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        host = datagrams(here)
        (serving,) = [v for v in here.door.visitors if isinstance(v, Http3)]
        setattr(serving.quic, what, broken)
        peer.datagram_received = lambda *_: None  # type: ignore[method-assign,assignment]
        peer.request()
        await settle(lambda: not here.door.visitors)
        left = (host._connections, host._names, host._serving, serving.streams)

    assert left == ({}, {}, set(), {})
    assert caplog.text.count("an HTTP/3 connection failed") == 1


async def test_a_renewed_certificate_is_taken_over(tmp_path: Path) -> None:
    old = issue(tmp_path)
    async with place(echo, old, http3=True) as here, peer3(here.port, old) as peer:
        new = issue(tmp_path)
        for _ in range(2):
            here.door.tick()
        async with peer3(here.port, new) as later:
            late = await later.answer(later.request(method=b"POST", body=b"new"))
        early = await peer.answer(peer.request(method=b"POST", body=b"old"))

    assert (early.body, late.body) == (b"old", b"new")


@asynccontextmanager
async def two_workers(app: Any, issued: Issued) -> AsyncIterator[tuple[list[Datagrams], Peer3]]:
    """The one that knows a client, the other one, and the client."""
    listener = listen("127.0.0.1", 0)
    posts = [msgspec.structs.replace(each, others=()) for each in open_posts(listener, 2)]
    entrance = TlsEntrance(issued.cert, issued.key, http2=True, http3=True)
    assert entrance._settings is not None
    door = Door(Limits())
    door.tick()
    workers = [Datagrams(app, door, post, entrance._settings) for post in posts]
    for worker in workers:
        await worker.open()
    try:
        async with peer3(listener.getsockname()[1], issued) as peer:
            yield sorted(workers, key=lambda each: not each._serving), peer
        await settle(lambda: not any(each._connections for each in workers))
    finally:
        for worker in workers:
            if not worker._is_closing:
                worker.close()
            worker._transport.close()
        close_posts(posts)
        listener.close()
        await asyncio.sleep(0)


async def test_a_datagram_for_another_worker_is_passed_on(issued: Issued) -> None:
    """All that a client sends comes to the worker that does not know it."""
    async with two_workers(echo, issued) as ((home, other), peer):
        home.datagram_received = other.datagram_received  # type: ignore[method-assign]
        heard = await peer.answer(peer.request(method=b"POST", body=bytes(50_000)))
        strangers = len(other._connections)

    assert len(heard.body) == 50_000
    assert not strangers


async def test_a_stop_lets_a_client_that_has_moved_have_its_answer(issued: Issued) -> None:
    """What it sends comes where a worker was that has stopped already."""
    go = asyncio.Event()

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await go.wait()
        await much(scope, receive, send)

    seen: list[bytes] = []
    async with AsyncExitStack() as stack, two_workers(late, issued) as ((home, other), peer):
        kept = stack.enter_context(other._post.incoming.dup())  # As in a process of its own.
        home._post = msgspec.structs.replace(home._post, others=[kept])
        number = peer.request()
        usual = other.datagram_received
        other.datagram_received = lambda data, addr: (seen.append(data), usual(data, addr))  # type: ignore[assignment,func-returns-value,method-assign]
        while not seen:
            moved, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: Elsewhere(peer), local_addr=("127.0.0.1", 0)
            )
            stack.callback(moved.close)
            peer._transport = moved
            await peer.ping()
        other.close()
        home.close()
        go.set()
        heard = await peer.answer(number)

    assert len(heard.body) == MIB
