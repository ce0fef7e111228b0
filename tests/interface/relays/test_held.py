"""What a relay holds of either side, counted in bytes, while the other side takes nothing.

Each end of a relayed socket is a plain TCP socket here that says how much it has sent. What the
kernel holds of that between the programs is in its table of connections; the rest is held by the
gateway.
"""

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from realtime_client import PATIENCE
from served_gateway import Served
from ws_peer import CLOSE, TEXT, frame, handshake

from gateway_core.upstream.transport import websocket
from gateway_core.upstream.transport.websocket import GUID
from gateway_realtime import relay

PATH = b"/v1/realtime?model=openai/gpt-realtime"
MIB = 1024 * 1024
BUFFERS = 320 * 1024
"""What one read of each of the two sockets may bring, besides: 256 KiB and 64 KiB."""
SMALL = 16 * 1024
"""Of the kernel's buffers, where the test can set them."""
SETTLED = 20
"""Looks in a row that find nothing changed."""
OVERLOADED = 1013


class Vendor:
    """A listener that shakes hands with the first client, and then does what the test does."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        self.port: int = self.listener.getsockname()[1]

    def accept(self) -> socket.socket:
        self.listener.settimeout(PATIENCE)
        opened, _ = self.listener.accept()
        opened.settimeout(PATIENCE)
        head = read_head(opened)
        key = next(
            line.split(b": ")[1] for line in head.split(b"\r\n") if b"websocket-key" in line.lower()
        )
        digest = base64.b64encode(hashlib.sha1(key + GUID).digest())
        opened.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
            b"sec-websocket-accept: " + digest + b"\r\n\r\n"
        )
        return opened


class Sockets:
    """Both ends of one relayed socket."""

    def __init__(self, client: socket.socket, vendor: socket.socket, vendor_port: int) -> None:
        self.client, self.vendor = client, vendor
        self._ports = {client.getsockname()[1], vendor_port}

    def in_kernel(self) -> int:
        """Bytes that are sent and not read, in all four ends of the two connections."""
        found = 0
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, here, there, _, queues, *_ = line.split()
            if self._ports & {int(each.split(":")[1], 16) for each in (here, there)}:
                found += sum(int(each, 16) for each in queues.split(":"))
        return found

    def fill(self, sender: socket.socket, message: bytes) -> int:
        """Send a message over and over until nothing is taken; the bytes that the gateway holds."""
        sender.setblocking(False)
        sent, seen, alike = 0, (-1, -1), 0
        rest = memoryview(message)
        until = time.monotonic() + 60
        while alike < SETTLED:
            assert time.monotonic() < until
            try:
                count = sender.send(rest)
            except BlockingIOError:
                count = 0
            sent += count
            rest = rest[count:] or memoryview(message)
            if count == 0:
                time.sleep(0.02)
                now = sent, self.in_kernel()
                seen, alike = now, alike + 1 if now == seen else 0
        return sent - seen[1]


def read_head(from_: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += from_.recv(1)
    return head


@pytest.fixture
def sockets(here: Served, account: Callable[..., str]) -> Iterator[Sockets]:
    """A client and a vendor whose own buffers are small."""
    vendor = Vendor()
    account("openai", vendor.port)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
    client.settimeout(PATIENCE)
    with vendor.listener, client:
        client.connect(("127.0.0.1", int(here.url.rsplit(":", 1)[1])))
        client.sendall(handshake(PATH))
        assert read_head(client).split()[1] == b"101"
        with vendor.accept() as opened:
            yield Sockets(client, opened, vendor.port)


def event(size: int) -> bytes:
    """An event of so many bytes."""
    text = json.dumps({"type": "x", "filling": ""})
    return text.replace('""', f'"{"x" * (size - len(text))}"').encode()


@pytest.mark.parametrize("size", [2_000, 200_000, MIB], ids=["small", "large", "largest"])
def test_no_more_than_a_mebibyte_is_held_for_a_slow_client(sockets: Sockets, size: int) -> None:
    held = sockets.fill(sockets.vendor, frame(TEXT, event(size), mask=False))

    print(f"{held / 1024:.0f} KiB held for the client")
    assert 0 < held <= MIB + BUFFERS


@pytest.mark.parametrize("size", [2_000, 200_000, MIB], ids=["small", "large", "largest"])
def test_no_more_than_a_mebibyte_is_held_for_a_slow_vendor(sockets: Sockets, size: int) -> None:
    held = sockets.fill(sockets.client, frame(TEXT, event(size)))

    print(f"{held / 1024:.0f} KiB held for the vendor")
    assert 0 < held <= MIB + BUFFERS


def closing(client: socket.socket) -> int:
    """The code of the close frame behind whatever else has come."""
    with client.makefile("rb") as stream:
        while True:
            first, second = stream.read(2)
            size = second & 0x7F
            if size > 125:
                size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
            payload = stream.read(size)
            if first & 0xF == CLOSE:
                return int.from_bytes(payload[:2], "big")


@contextmanager
def flooding(sender: socket.socket, message: bytes) -> Iterator[None]:
    """Messages are sent one after the other until the sender is shut down."""

    def flood() -> None:
        with suppress(OSError):
            while True:
                sender.sendall(message)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError):
            sender.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


def test_a_client_that_takes_nothing_for_too_long_is_closed(
    sockets: Sockets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "STALLED", 0.5)

    with flooding(sockets.vendor, frame(TEXT, event(200_000), mask=False)):
        assert sockets.vendor.recv(2)[0] & 0xF == CLOSE
        assert closing(sockets.client) == OVERLOADED


def test_a_vendor_that_takes_nothing_for_too_long_is_left(
    sockets: Sockets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "STALLED", 0.5)

    with flooding(sockets.client, frame(TEXT, event(200_000))):
        assert closing(sockets.client) == OVERLOADED
