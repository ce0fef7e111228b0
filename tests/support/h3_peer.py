"""An HTTP/3 client that does as it is told, right or wrong."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import (
    ConnectionTerminated,
    ProtocolNegotiated,
    QuicEvent,
    StopSendingReceived,
    StreamReset,
)
from certificates import Issued
from h2_peer import PATIENCE, Answer


class Peer3(QuicConnectionProtocol):
    """One connection."""

    def __init__(self, quic: QuicConnection) -> None:
        super().__init__(quic)
        self.quic = quic
        self.events: list[H3Event | QuicEvent] = []
        self.h3: Any = None
        self.code: int | None = None
        """What the connection was ended with."""
        self._news = asyncio.Event()

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self.h3 = H3Connection(self.quic)
        if isinstance(event, StreamReset | StopSendingReceived):
            self.events.append(event)
        if isinstance(event, ConnectionTerminated):
            self.code = event.error_code
        if self.h3 is not None:
            self.events += self.h3.handle_event(event)
        self._news.set()

    def request(
        self,
        path: bytes | None = b"/",
        *headers: tuple[bytes, bytes],
        method: bytes = b"GET",
        host: bytes = b"127.0.0.1",
        body: bytes | None = None,
        ends: bool = True,
    ) -> int:
        """Begin a request; ``ends`` with its body, or without one."""
        number: int = self.quic.get_next_available_stream_id()
        pseudo = [(b":method", method), (b":scheme", b"https"), (b":authority", host)]
        if path is not None:
            pseudo.append((b":path", path))
        self.h3.send_headers(number, [*pseudo, *headers], ends and body is None)
        if body is not None:
            self.h3.send_data(number, body, ends)
        self.transmit()
        return number

    def body(self, number: int, data: bytes, *, ends: bool = False) -> None:
        self.h3.send_data(number, data, ends)
        self.transmit()

    def give_up(self, number: int, *, sending: bool = True, hearing: bool = True) -> None:
        if sending:
            self.quic.reset_stream(number, 0x10C)
        if hearing:
            self.quic.stop_stream(number, 0x10C)
        self.transmit()

    async def until(self, found: Callable[[], object]) -> None:
        """Wait for what the server sends."""
        async with asyncio.timeout(PATIENCE):
            while not found():
                self._news.clear()
                await self._news.wait()

    async def answer(self, number: int) -> Answer:
        """All of an answer."""
        await self.until(lambda: self.code is not None or self.ended(number))
        return self.heard(number)

    async def end(self) -> int | None:
        """Wait until the server closes, and give the code it said farewell with."""
        await self.until(lambda: self.code is not None)
        return self.code

    def ended(self, number: int) -> bool:
        return any(
            isinstance(each, StreamReset) or getattr(each, "stream_ended", False)
            for each in self._of(number)
        )

    def stopped(self, number: int) -> int | None:
        """The code with which the server told that it wants no more of a request."""
        found = [e for e in self._of(number) if isinstance(e, StopSendingReceived)]
        return found[0].error_code if found else None

    def heard(self, number: int) -> Answer:
        """What there is of an answer."""
        mine = self._of(number)
        heads = [dict(each.headers) for each in mine if isinstance(each, HeadersReceived)]
        headers = next((head for head in heads if head[b":status"] >= b"2"), {})
        body = b"".join(each.data for each in mine if isinstance(each, DataReceived))
        resets = [each.error_code for each in mine if isinstance(each, StreamReset)]
        return Answer(int(headers.get(b":status", 0)), headers, body, next(iter(resets), None))

    def interim(self, number: int) -> list[bytes]:
        """The statuses that came ahead of the answer."""
        heads = [e for e in self._of(number) if isinstance(e, HeadersReceived)]
        statuses = [dict(head.headers)[b":status"] for head in heads]
        return [status for status in statuses if status < b"2"]

    def _of(self, number: int) -> list[Any]:
        return [each for each in self.events if getattr(each, "stream_id", None) == number]


def configuration(issued: Issued, **changes: Any) -> QuicConfiguration:
    made = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, **changes)
    made.load_verify_locations(cafile=str(issued.authority))
    made.server_name = "127.0.0.1"
    return made


@asynccontextmanager
async def peer3(
    port: int,
    issued: Issued,
    made: type[Peer3] = Peer3,
    only: str | None = None,
    **changes: Any,
) -> AsyncIterator[Peer3]:
    """A client whose handshake is done. It may hear ``only`` one address of the server."""
    loop = asyncio.get_running_loop()
    peer = made(QuicConnection(configuration=configuration(issued, **changes)))
    ends: dict[str, Any] = {"local_addr": ("127.0.0.1", 0)}
    if only is not None:
        ends = {"remote_addr": (only, port)}
    transport, _ = await loop.create_datagram_endpoint(lambda: peer, **ends)
    try:
        peer.connect(transport.get_extra_info("peername") or ("127.0.0.1", port))
        async with asyncio.timeout(PATIENCE):
            await peer.wait_connected()
        yield peer
    finally:
        peer.close()
        if peer._timer is not None:
            peer._timer.cancel()
        transport.close()
        await asyncio.sleep(0)
