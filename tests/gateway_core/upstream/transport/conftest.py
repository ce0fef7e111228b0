"""Real servers on loopback, on both event loops, with a watch for whatever is left behind."""

import asyncio
import contextlib
import gc
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import psutil
import pytest
import trustme
import uvloop

from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import Network, TransportLimits, read_all

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Peer:
    """One connection as the server sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def head(self) -> bytes:
        """The next request's head, or nothing when the client has gone."""
        try:
            return await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def request(self) -> tuple[bytes, bytes]:
        """The next request's head and body; empty when the client has gone."""
        head = await self.head()
        _, found, rest = head.lower().partition(b"content-length: ")
        length = int(rest.partition(b"\r\n")[0]) if found else 0
        return head, await self.reader.readexactly(length)

    async def say(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self, body: bytes = b"ok", *fields: bytes) -> None:
        lines = b"".join(b"%b\r\n" % field for field in fields)
        await self.say(
            b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (lines, len(body), body)
        )

    async def gone(self) -> None:
        """Wait until the client closes."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass

    async def pause(self) -> None:
        """Let what was said arrive on its own."""
        await asyncio.sleep(0.001)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """Close with a reset; what was said may be lost."""
        held = self.writer.get_extra_info("socket")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Handler = Callable[[Peer], Awaitable[None]]


class Server:
    """A listener whose every connection is served by one handler."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None) -> None:
        self.handler = handler
        self.tls = tls
        self.port = 0
        self.accepted = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    async def __aenter__(self) -> "Server":
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, ssl=self.tls, limit=2**20, backlog=2048
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *problem: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self.handler(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()


@pytest.fixture
def serve() -> Callable[..., Server]:
    """``async with serve(handler) as server``."""

    def make(handler: Handler, tls: ssl.SSLContext | None = None) -> Server:
        return Server(handler, tls)

    return make


async def keep_answering(peer: Peer) -> None:
    while (await peer.request())[0]:
        await peer.answer()


@pytest.fixture
def polite() -> Handler:
    """Answers every request with ``ok`` and keeps the connection."""
    return keep_answering


@pytest.fixture
def open_network() -> Callable[..., contextlib.AbstractAsyncContextManager[Network]]:
    """``async with open_network(connections=2) as network``: a network that is closed again."""

    @contextlib.asynccontextmanager
    async def make(
        *, resolve: Any = None, tls: Any = None, refuse: Any = None, **limits: Any
    ) -> AsyncIterator[Network]:
        given = {"resolve": resolve, "tls": tls, "refuse": refuse}
        network = Network(
            TransportLimits(**limits), **{k: v for k, v in given.items() if v is not None}
        )
        try:
            yield network
        finally:
            await network.aclose()
            counts = network.counts()
            assert (counts.open, counts.idle, counts.waiting) == (0, 0, 0)

    return make


@pytest.fixture
def fetch() -> Callable[..., Awaitable[bytes]]:
    """Send one request and give the whole body."""

    async def go(transport: Any, url: str, **request: Any) -> bytes:
        response = await transport.send(UpstreamRequest(url=url, **request))
        try:
            return await read_all(response)
        finally:
            await response.aclose()

    return go


async def watched(scenario: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(60):
        await scenario()
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture(scope="session")
def warm() -> Iterator[None]:
    """Get done what happens once in a process and would look like a leak, or be slow."""
    for make in LOOPS.values():
        # The first loop of a kind opens descriptors that are kept.
        with asyncio.Runner(loop_factory=make) as runner:
            runner.run(asyncio.sleep(0))
    gc.collect()
    # What is loaded by now need not be looked through after every test.
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest, warm: None) -> Iterator[Callable[..., None]]:
    """Run a scenario on each kind of loop; no task and no descriptor may be left."""

    def go(scenario: Callable[[], Awaitable[None]]) -> None:
        before = psutil.Process().num_fds()
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.run(watched(scenario))
        assert psutil.Process().num_fds() == before

    yield go
    # What is only closed by the collector warns, and warnings are errors.
    gc.collect()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def trusting(authority: trustme.CA) -> Callable[[], ssl.SSLContext]:
    """Makes client contexts that believe the tests' authority and no other."""

    def make() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        authority.configure_trust(context)
        return context

    return make


@pytest.fixture(scope="session")
def certified(authority: trustme.CA) -> Callable[..., ssl.SSLContext]:
    """Makes server contexts for the given names."""

    def make(*names: str, protocols: tuple[str, ...] = ("http/1.1",)) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*names).configure_cert(context)
        context.set_alpn_protocols(list(protocols))
        return context

    return make


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


async def connect_through(peer: Peer, host: str, port: int, greeting: bytes) -> None:
    """Join the client with a host, after a greeting; ends when either side does."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        await peer.say(greeting)
        await asyncio.gather(pipe(reader, peer.writer), pipe(peer.reader, writer))
    finally:
        writer.transport.abort()


class HttpProxy:
    """Tunnels with CONNECT and forwards absolute targets; ``seen`` holds its request heads."""

    scheme = "http"

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.names = {"a.test": "127.0.0.1"}
        self.refusal = b""

    async def __call__(self, peer: Peer) -> None:
        head = await peer.head()
        self.seen.append(head)
        if self.refusal:
            await peer.say(self.refusal)
            return
        method, target, _ = head.split(b" ", 2)
        authority = target if method == b"CONNECT" else target.split(b"/")[2]
        host, _, port = authority.decode().rpartition(":")
        address = self.names.get(host, host)
        if method == b"CONNECT":
            await connect_through(peer, address, int(port), b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            await self.forward(peer, head, address, int(port))

    async def forward(self, peer: Peer, head: bytes, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(head)
            await asyncio.gather(pipe(reader, peer.writer), pipe(peer.reader, writer))
        finally:
            writer.transport.abort()


class SocksProxy:
    """SOCKS5 with names and addresses, and a password when ``password`` is set."""

    scheme = "socks5"

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.names = {"a.test": "127.0.0.1"}
        self.refusal = b""
        self.password = b""

    async def __call__(self, peer: Peer) -> None:
        _, count = await peer.reader.readexactly(2)
        await peer.reader.readexactly(count)
        if self.refusal:
            await peer.say(self.refusal)
            await peer.gone()
            return
        await peer.say(b"\x05\x02" if self.password else b"\x05\x00")
        if self.password and not await self.accepts(peer):
            return
        _, _, _, kind = await peer.reader.readexactly(4)
        host = await self.read_host(peer, kind)
        port = int.from_bytes(await peer.reader.readexactly(2), "big")
        self.seen.append(host.encode())
        address = self.names.get(host, host)
        await connect_through(peer, address, port, b"\x05\x00\x00\x01\0\0\0\0\0\0")

    async def accepts(self, peer: Peer) -> bool:
        _, length = await peer.reader.readexactly(2)
        user = await peer.reader.readexactly(length)
        (length,) = await peer.reader.readexactly(1)
        right = (user, await peer.reader.readexactly(length)) == (b"us er", self.password)
        await peer.say(b"\x01\x00" if right else b"\x01\x01")
        return right

    async def read_host(self, peer: Peer, kind: int) -> str:
        if kind == 1:
            return ".".join(str(part) for part in await peer.reader.readexactly(4))
        (length,) = await peer.reader.readexactly(1)
        return (await peer.reader.readexactly(length)).decode()


@pytest.fixture(params=[HttpProxy, SocksProxy], ids=["http", "socks5"])
def proxy(request: pytest.FixtureRequest) -> HttpProxy | SocksProxy:
    """A handler that is a proxy."""
    made: HttpProxy | SocksProxy = request.param()
    return made


@pytest.fixture
def http_proxy() -> HttpProxy:
    return HttpProxy()


@pytest.fixture
def socks_proxy() -> SocksProxy:
    return SocksProxy()
