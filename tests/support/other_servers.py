"""Stock ASGI servers before an embedded gateway, and what talks to them from both ends."""

import asyncio
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import SO_RCVBUF, SOL_SOCKET, create_connection, create_server, socket
from typing import Any, NamedTuple

import httpx2
import hypercorn.asyncio
import hypercorn.config
import pytest
import uvicorn
from certificates import Issued, issue
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, StreamEnded
from served_gateway import Served, serve_gateway

from gateway_core import Auth, ProviderSpec

Wrap = Callable[[Any], Any]
SERVERS = ("uvicorn", "uvicorn over uvloop", "hypercorn", "hypercorn over HTTP/2")
OVER_HTTP_1 = pytest.mark.parametrize("place", SERVERS[:3], indirect=True, scope="module")
"""For a test of what HTTP/1.1's bytes say, or of what hypercorn does not do over HTTP/2."""
OVER_HTTP_2 = pytest.mark.parametrize("place", SERVERS[3:], indirect=True, scope="module")
PATIENCE = 10.0
"""Seconds after which a test fails instead of waiting on."""
GRACE = 1
"""Seconds that a server which is stopped gives to those who are still served."""


Wait = Callable[[], Awaitable[object]]


async def _by_uvicorn(app: Any, listener: socket, stop: Wait, issued: Issued | None) -> None:
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=GRACE)
    server = uvicorn.Server(config)

    async def end() -> None:
        await stop()
        server.should_exit = True

    await asyncio.gather(server.serve(sockets=[listener]), end())


async def _by_hypercorn(app: Any, listener: socket, stop: Any, issued: Issued | None) -> None:
    config = hypercorn.config.Config()
    config.errorlog = logging.getLogger("hypercorn.error")
    config.graceful_timeout = GRACE
    config.bind = [f"fd://{listener.detach()}"]
    if issued is not None:
        config.certfile, config.keyfile = str(issued.cert), str(issued.key)
    await hypercorn.asyncio.serve(app, config, shutdown_trigger=stop)


class Guest(NamedTuple):
    """A gateway in a stock server, and how it is talked to."""

    name: str
    here: Served
    url: str
    issued: Issued | None

    @property
    def is_http2(self) -> bool:
        return self.issued is not None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self, **more: Any) -> httpx2.Client:
        """A client with connections of its own."""
        trusted: ssl.SSLContext | bool = self.issued is not None and self.issued.trusting()
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=1)
        return httpx2.Client(
            base_url=self.url,
            http2=self.is_http2,
            http1=not self.is_http2,
            verify=trusted,
            trust_env=False,
            timeout=PATIENCE,
            limits=limits,
            **more,
        )

    def call(self) -> socket:
        """A bare connection."""
        return create_connection(("127.0.0.1", self.port), timeout=PATIENCE)


def _same(app: Any) -> Any:
    return app


@contextmanager
def embedded(
    name: str, folder: Path, scripts: Any, *, wrap: Wrap = _same, **more: Any
) -> Iterator[Guest]:
    """A gateway in a stock server; the rest is as for :func:`served.served`."""
    issued = issue(folder) if "HTTP/2" in name else None
    by = _by_uvicorn if name.startswith("uvicorn") else _by_hypercorn

    def serve(app: Any, listener: socket, stop: Wait) -> Coroutine[Any, Any, None]:
        return by(wrap(app), listener, stop, issued)

    loop = "uvloop" if "uvloop" in name else "asyncio"
    with serve_gateway(folder, scripts, server=loop, serve=serve, **more) as here:
        scheme = "http" if issued is None else "https"
        yield Guest(name, here, here.url.replace("http", scheme, 1), issued)


class Reader:
    """A client that asks for streams and takes nothing until it is told to."""

    def __init__(self, guest: Guest) -> None:
        line = socket()
        line.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        line.settimeout(PATIENCE)
        line.connect(("127.0.0.1", guest.port))
        self.port = int(line.getsockname()[1])
        self._line, self._h2 = line, None
        self.ended: set[int] = set()
        """Streams of HTTP/2 that have come to their end."""
        if guest.issued is not None:
            trusting = guest.issued.trusting("h2")
            self._line = trusting.wrap_socket(line, server_hostname="127.0.0.1")
            self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
            self._h2.initiate_connection()
            self._flush()

    def ask(self, body: bytes, path: bytes = b"/v1/chat/completions") -> int:
        """Give the number of a request's stream."""
        kind = (b"content-type", b"application/json")
        if self._h2 is None:
            self._line.sendall(
                b"POST %b HTTP/1.1\r\nhost: 127.0.0.1\r\n%b: %b\r\ncontent-length: %d\r\n\r\n%b"
                % (path, *kind, len(body), body)
            )
            return 0
        number = self._h2.get_next_available_stream_id()
        head = [(b":method", b"POST"), (b":scheme", b"https"), (b":path", path)]
        self._h2.send_headers(number, [*head, (b":authority", b"127.0.0.1"), kind])
        self._h2.send_data(number, body, end_stream=True)
        self._flush()
        return number

    def take(self) -> bytes:
        """Some of what has come: over HTTP/2 of the bodies, else of everything."""
        data, taken = self._line.recv(65536), b""
        assert data, "the server has closed"
        if self._h2 is None:
            return data
        for event in self._h2.receive_data(data):
            if isinstance(event, DataReceived):
                taken += event.data
                size = event.flow_controlled_length
                self._h2.acknowledge_received_data(size, event.stream_id)
            elif isinstance(event, StreamEnded):
                self.ended.add(event.stream_id)
        self._flush()
        return taken

    def reset(self, number: int) -> None:
        """Want no more of a stream of HTTP/2."""
        assert self._h2 is not None
        self._h2.reset_stream(number)
        self._flush()

    def close(self) -> None:
        self._line.close()

    def _flush(self) -> None:
        assert self._h2 is not None
        self._line.sendall(self._h2.data_to_send())


def queued(port: int) -> int:
    """Bytes that the system keeps of a connection with this port, for both ends of it."""
    found, wanted = 0, f":{port:04X}"
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = row.split()
        if local.endswith(wanted) or remote.endswith(wanted):
            found += sum(int(size, 16) for size in queues.split(":"))
    return found


class Lockstep:
    """A vendor of which each piece leaves when the test says so."""

    def __init__(self) -> None:
        self._listener = create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        self._line: socket | None = None
        self.received = b""
        """The request, as it came."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def port(self) -> int:
        """The gateway's end of the connection."""
        assert self._line is not None
        return int(self._line.getpeername()[1])

    def provider(self, wire: str = "openai") -> ProviderSpec:
        return ProviderSpec(
            id=f"step-{wire}",
            name="Step",
            format=wire,
            base_url=self.url,
            auth=Auth(type="none"),
        )

    def hear(self) -> None:
        """Wait for a request."""
        self.close_connection()
        self._line, _ = self._listener.accept()
        self._line.settimeout(PATIENCE)
        self.received = b""
        while b"\r\n\r\n" not in self.received:
            self.received += self._read()
        head, _, body = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += self._read()

    def begin(self, kind: str = "text/event-stream") -> None:
        """The head of a stream."""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"
        self._send(head.encode())

    def say(self, piece: bytes) -> None:
        """More of it; nothing is its end."""
        self._send(b"%x\r\n%b\r\n" % (len(piece), piece))

    def offers(self, data: bytes, within: float) -> int:
        """How much of ``data`` is taken until nobody takes more for so long."""
        assert self._line is not None
        self._line.settimeout(within)
        taken = 0
        try:
            while taken < len(data):
                taken += self._line.send(data[taken : taken + 65536])
        except TimeoutError:
            pass
        self._line.settimeout(PATIENCE)
        return taken

    def was_left(self) -> bool:
        """Wait until the gateway hangs up."""
        assert self._line is not None
        try:
            return self._line.recv(1) == b""
        except ConnectionError:
            return True

    def close_connection(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def close(self) -> None:
        self.close_connection()
        self._listener.close()

    def _read(self) -> bytes:
        assert self._line is not None
        piece = self._line.recv(65536)
        assert piece, "the gateway hung up early"
        return piece

    def _send(self, data: bytes) -> None:
        assert self._line is not None
        self._line.sendall(data)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that happens elsewhere."""
    deadline = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert is_so()
