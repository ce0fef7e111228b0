"""Memory is bounded: for bodies that are let in together, and for whatever one connection sends."""

import gzip
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from certificates import issue
from custom_node import add_node
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import Running, running, vendor
from h2.config import H2Configuration
from h2.connection import H2Connection
from raw_http import chat, connect, read_response, request, send_and_read
from vendor_answers import WHOLE

MIB = 1024 * 1024
BUDGET = 512
"""MiB, of the gateway."""
BODY = 45 * MIB
BODIES = 20
HOSTILE = 16 * MIB
"""What hostile connections may add together."""
LASTS = 3.0
"""Seconds that a hostile client goes on."""


def peak(here: Running) -> int:
    """The most memory the process ever had, bytes: proc_pid_status(5)."""
    status = Path(f"/proc/{here.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def at_once(work: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "compressed"])
def test_large_bodies_at_once_stay_within_the_memory(tmp_path: Path, is_compressed: bool) -> None:
    begin, end = b'{"model":"lab/m","messages":[{"role":"user","content":"', b'"}]}'
    # Of each 64 KiB a part cannot be compressed: a body may grow to a hundred times its size.
    text = b"".join(secrets.token_hex(1024).encode() + b"x" * 63488 for _ in range(BODY // 65536))
    body = begin + text[: BODY - len(begin) - len(end)] + end
    coded = (b"Content-Encoding: gzip",) if is_compressed else ()
    body = gzip.compress(body, 1) if is_compressed else body
    length = b"Content-Length: %d" % len(body)
    sent = chat(length, b"Connection: close", *coded, body=b"")
    statuses: list[int] = []

    def script(received: ReceivedRequest) -> MockResponse:
        assert len(received.body) > BODY - 100
        return MockResponse((WHOLE["openai"],))

    def send(url: str) -> None:
        with connect(url) as peer:
            try:
                peer.sendall(sent)
                peer.sendall(body)
            except ConnectionError:
                pass  # It was refused, and need not be read on.
            statuses.append(read_response(peer, 60).status)

    with (
        vendor(script) as lab,
        running(tmp_path, variables={"GATEWAY_MEMORY_MB": str(BUDGET)}) as here,
    ):
        add_node(here, tmp_path, lab)
        at_once(lambda number: send(here.url), BODIES)
        most = peak(here)
        send(here.url)

    assert len(statuses) == BODIES + 1
    assert set(statuses) <= {200, 503}
    assert statuses.count(503) > 0
    assert statuses[-1] == 200
    assert most < BUDGET * MIB


REMOTE = b"via: 1.1 a-proxy"
"""Makes a caller on this machine one of elsewhere, who needs a key and has none."""
JSON = b"Content-Type: application/json"
ENDLESS = request("POST /v1/chat/completions", JSON, REMOTE, b"Transfer-Encoding: chunked")
SMALL = b'{"model":"echo/echo","messages":[{"role":"user","content":"%b"}]}' % (b"x" * 1000)


def repeat(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


def chunks(piece: bytes) -> Iterator[bytes]:
    yield ENDLESS
    yield from repeat(piece)


ONE_POST = request(
    "POST /v1/chat/completions", JSON, REMOTE, b"Content-Length: %d" % len(SMALL), body=SMALL
)
HTTP1: dict[str, Callable[[], Iterator[bytes]]] = {
    "requests without pause": lambda: repeat(request("GET /api/health") * 500),
    "posts without pause": lambda: repeat(ONE_POST * 50),
    "a body without end": lambda: chunks(b"10000\r\n" + b" " * 65536 + b"\r\n"),
    "tiny chunks": lambda: chunks(b"1\r\n \r\n" * 5000),
    "a head without end": lambda: repeat(b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 60_000),
}


def send_until(peer: socket.socket, pieces: Iterator[bytes], until: float) -> None:
    """Send and read nothing, as long as the other side takes something."""
    for piece in pieces:
        left = until - time.monotonic()
        if left <= 0:
            return
        peer.settimeout(left)
        try:
            peer.sendall(piece)
        except (OSError, TimeoutError):
            return


class Requests:
    """Begins requests over HTTP/2 without end, with bodies that do not end either."""

    def __init__(self, ends: bool) -> None:
        config = H2Configuration(client_side=True, header_encoding=None)
        self.h2 = H2Connection(config)
        self.ends = ends
        self.open: list[int] = []

    def begin(self) -> None:
        number = self.h2.get_next_available_stream_id()
        method = b"GET" if self.ends else b"POST"
        path = b"/api/health" if self.ends else b"/v1/chat/completions"
        pseudo = [(b":method", method), (b":path", path), (b":scheme", b"https")]
        more = [(b"content-type", b"application/json"), (b"via", b"1.1 a-proxy")]
        self.h2.send_headers(
            number, [*pseudo, (b":authority", b"127.0.0.1"), *more], end_stream=self.ends
        )
        self.open.append(number)

    def fill(self) -> None:
        """As much of the bodies as the other side has asked for."""
        for number in tuple(self.open):
            try:
                room = self.h2.local_flow_control_window(number)
            except Exception:  # It was answered, or reset.
                self.open.remove(number)
                continue
            while room > 0:
                size = min(room, 16 * 1024)
                self.h2.send_data(number, b" " * size)
                room -= size

    def run(self, peer: ssl.SSLSocket, until: float) -> None:
        self.h2.initiate_connection()
        peer.settimeout(0.05)
        try:
            while time.monotonic() < until:
                while len(self.open) < 100:
                    self.begin()
                if not self.ends:
                    self.fill()
                peer.sendall(self.h2.data_to_send())
                if self.ends:
                    self.open.clear()
                    continue  # Nothing is read: neither answers nor windows.
                try:
                    self.h2.receive_data(peer.recv(65536))
                except TimeoutError:
                    continue
        except Exception:  # The other side has had enough.
            return


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    data_dir = tmp_path_factory.mktemp("memory")
    with running(data_dir, "--loop", request.param) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    data_dir = tmp_path_factory.mktemp("secure")
    with running(data_dir, *issue(data_dir).options) as gateway:
        yield gateway


def added(here: Running, attack: Callable[[int], None], connections: int) -> int:
    """How many bytes of memory an attack adds at most."""
    process = psutil.Process(here.process.pid)
    most = before = process.memory_info().rss
    over = threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.02):
            most = max(most, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    at_once(attack, connections)
    over.set()
    watcher.join()
    return most - before


@pytest.mark.parametrize("connections", [1, 40])
@pytest.mark.parametrize("pieces", HTTP1.values(), ids=HTTP1)
def test_hostile_connections_take_little_memory(
    here: Running, pieces: Callable[[], Iterator[bytes]], connections: int
) -> None:
    def attack(number: int, lasts: float = LASTS) -> None:
        with connect(here.url) as peer:
            send_until(peer, pieces(), time.monotonic() + lasts)

    attack(0, 0.3)  # What the first such request imports is no growth.
    assert added(here, attack, connections) < HOSTILE


@pytest.mark.parametrize("connections", [1, 40])
@pytest.mark.parametrize("ends", [True, False], ids=["requests", "bodies"])
def test_hostile_connections_over_http2_take_little_memory(
    secure: Running, connections: int, ends: bool
) -> None:
    def attack(number: int, lasts: float = LASTS) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        port = int(secure.url.rpartition(":")[2])
        with ExitStack() as stack:
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            peer = stack.enter_context(context.wrap_socket(plain))
            Requests(ends).run(peer, time.monotonic() + lasts)

    attack(0, 0.3)
    assert added(secure, attack, connections) < HOSTILE


def test_a_caller_without_a_key_is_refused_before_a_long_body_is_read(here: Running) -> None:
    head = request("POST /v1/chat/completions", JSON, REMOTE, b"Content-Length: %d" % (40 * MIB))

    response = send_and_read(here.url, head, b" " * (2 * MIB), until=b"}")

    assert response.status == 401
