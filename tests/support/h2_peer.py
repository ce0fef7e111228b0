"""An HTTP/2 client that does as it is told, right or wrong, and a small server to tell it to."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from certificates import Issued
from gateway_server_fast.connections import App, ConnectionManager
from gateway_server_fast.server import FastServer
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)

from gateway_cli.listening import listen
from gateway_cli.tls_certificate import Certificate
from gateway_core import ServerLimits, ServerOptions

PATIENCE = 10.0
"""Seconds after which a test fails instead of waiting on."""


class Answer(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes
    reset: int | None
    """The code that ended it, if it did not end in order."""


class Peer:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        config = H2Configuration(
            client_side=True,
            header_encoding=None,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        self.h2 = H2Connection(config)
        self.events: list[Event] = []
        self.closed = False
        self.takes = True
        """What is received is given back to the server's window."""

    async def begin(self) -> None:
        self.h2.initiate_connection()
        await self.flush()

    async def flush(self) -> None:
        await self.send(self.h2.data_to_send())

    async def send(self, data: bytes) -> None:
        """Bytes that may be no good, as far as the server wants them."""
        with suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def request(
        self,
        path: bytes | None = b"/",
        *headers: tuple[bytes, bytes],
        method: bytes = b"GET",
        host: bytes = b"127.0.0.1",
        ends: bool = True,
    ) -> int:
        """Begin a request; ``ends`` without a body."""
        number = self.h2.get_next_available_stream_id()
        pseudo = [(b":method", method)]
        if path is not None:
            pseudo += [(b":scheme", b"https"), (b":path", path)]
        self.h2.send_headers(number, [*pseudo, (b":authority", host), *headers], end_stream=ends)
        await self.flush()
        return number

    async def body(self, number: int, data: bytes, *, ends: bool = False) -> None:
        """Part of a body, as fast as the server takes it."""
        while data:
            room = self.h2.local_flow_control_window(number)
            room = min(room, self.h2.max_outbound_frame_size)
            if room:
                self.h2.send_data(number, data[:room])
                data = data[room:]
                await self.flush()
            elif not await self.hear():
                return
        if ends:
            self.h2.end_stream(number)
            await self.flush()

    async def hear(self) -> list[Event]:
        """The next events; none when the server has closed."""
        async with asyncio.timeout(PATIENCE):
            while not self.closed:
                try:
                    data = await self.reader.read(65536)
                except OSError:
                    data = b""
                self.closed = not data
                events = self.h2.receive_data(data) if data else []
                for event in events:
                    if isinstance(event, DataReceived) and self.takes:
                        size = event.flow_controlled_length
                        self.h2.acknowledge_received_data(size, event.stream_id)
                await self.flush()
                self.events += events
                if events:
                    return events
        return []

    async def answer(self, number: int) -> Answer:
        """All of an answer."""
        while not self.ended(number) and await self.hear():
            pass
        return self.heard(number)

    def ended(self, number: int) -> bool:
        """Whether there is no more to come of an answer."""
        return any(self._of(number, StreamEnded, StreamReset))

    def heard(self, number: int) -> Answer:
        """What there is of an answer."""
        heads = self._of(number, ResponseReceived)
        headers = dict(heads[0].headers) if heads else {}
        body = b"".join(event.data for event in self._of(number, DataReceived))
        resets = self._of(number, StreamReset)
        status = int(headers.get(b":status", b"0"))
        return Answer(status, headers, body, int(resets[0].error_code) if resets else None)

    async def end(self) -> int | None:
        """Wait until the server closes, and give the code it said say_goodbye with."""
        while await self.hear():
            pass
        farewells = [event for event in self.events if isinstance(event, ConnectionTerminated)]
        return int(farewells[0].error_code or 0) if farewells else None

    def _of(self, number: int, *kinds: type[Any]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kinds) and e.stream_id == number]


class Place:
    """A server over TLS on a port of its own."""

    def __init__(
        self, port: int, manager: ConnectionManager, issued: Issued, stop: asyncio.Event
    ) -> None:
        self.port, self.manager, self.issued, self._stop = port, manager, issued, stop
        self.serving: asyncio.Task[None]
        self.url = f"https://127.0.0.1:{port}"

    @asynccontextmanager
    async def peer(self) -> AsyncIterator[Peer]:
        """A client that has begun to speak."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.issued.trusting("h2")
        )
        peer = Peer(reader, writer)
        await peer.begin()
        await peer.hear()
        try:
            yield peer
        finally:
            writer.transport.abort()

    def pass_time(self, seconds: float) -> None:
        """Let every connection on_tick at a clock that is so far ahead."""
        for connection in tuple(self.manager.connections):
            connection.on_tick(asyncio.get_running_loop().time() + seconds)

    def stop(self) -> None:
        self._stop.set()


@asynccontextmanager
async def place(
    app: App,
    issued: Issued,
    *,
    server: str = "uvloop",
    http2: bool = True,
    buffer: int | None = None,
    host: str = "127.0.0.1",
    **limits: Any,
) -> AsyncIterator[Place]:
    """Serve an application until the block ends; ``buffer`` is what the system keeps of answers."""
    listener, stop = listen(host, 0), asyncio.Event()
    if buffer is not None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    certificate = Certificate(
        issued.cert, issued.key, ["h2", "http/1.1"] if http2 else ["http/1.1"]
    )
    wanted = ServerLimits(**{"short_drain": 0.3, "drain": 5.0, **limits})
    fast = FastServer(ServerOptions(limits=wanted, certificate=certificate, http2=http2))
    here = Place(listener.getsockname()[1], fast.manager, issued, stop)
    here.serving = asyncio.create_task(fast.serve(app, listener, stop.wait))
    try:
        yield here
    finally:
        stop.set()
        fast.shorten_drain()
        await here.serving


def frame(kind: int, *, flags: int = 0, number: int = 0, data: bytes = b"") -> bytes:
    """A frame as it goes over the wire."""
    return len(data).to_bytes(3, "big") + bytes((kind, flags)) + number.to_bytes(4, "big") + data
