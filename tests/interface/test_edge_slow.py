"""Slow clients (S07, S42)."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest
from custom_node import EVENT, STREAM, add_node
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import Running, running, vendor
from raw_http import (
    RawResponse,
    chat,
    connect,
    read_response,
    request,
    send_and_read,
    send_bytes,
    sized,
)

from gateway_cli.event_loop import LOOPS

SHORT = 0.8
"""Seconds of the time limits; the server checks them four times as often."""
LATE = 3.0
MIB = 1024 * 1024
READERS = 50
HEALTH = request("GET /api/health")


@pytest.fixture(scope="module", params=LOOPS)
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    short = f"{SHORT * 1000:.0f}"
    variables = {
        "GATEWAY_HEADER_TIMEOUT_MS": short,
        "GATEWAY_BODY_TIMEOUT_MS": short,
        "GATEWAY_KEEP_ALIVE_TIMEOUT_MS": short,
    }
    data_dir = tmp_path_factory.mktemp("slow")
    with running(data_dir, "--loop", request.param, variables=variables) as gateway:
        yield gateway


class Probe:
    """Requests the health route repeatedly and records the durations."""

    def __init__(self, here: Running) -> None:
        self.url = here.url
        self.seconds: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx2.Client(trust_env=False, timeout=10) as client:
            while not self._over.wait(0.02):
                begun = time.monotonic()
                assert client.get(f"{self.url}/api/health").status_code == 200
                self.seconds.append(time.monotonic() - begun)

    @contextmanager
    def asking(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    @property
    def usual(self) -> float:
        """What half of the answers stay below; a busy machine makes a few of them late."""
        return sorted(self.seconds)[len(self.seconds) // 2]


def test_slow_heads_and_bodies_time_out_while_others_are_served(here: Running) -> None:
    probe = Probe(here)
    body = chat(b"Content-Length: 1048576", body=b"{")

    with ExitStack() as stack, probe.asking():
        begun, peers = time.monotonic(), []
        # At once, because a connection that says nothing is closed without a word.
        for unfinished in [HEALTH[:6]] * 100 + [body] * 40:
            peers.append(stack.enter_context(connect(here.url)))
            send_bytes(peers[-1], unfinished)
        responses = [read_response(peer, 10) for peer in peers]
        lasted = time.monotonic() - begun

    assert {tuple(each.statuses) for each in responses} == {(408,)}
    assert all(each.closed for each in responses)
    assert lasted < LATE
    assert probe.usual < 0.5


def test_a_trickling_head_gets_no_more_time(here: Running) -> None:
    with connect(here.url) as peer:
        begun = time.monotonic()
        for byte in HEALTH[:-2]:
            send_bytes(peer, bytes([byte]))
            response = read_response(peer, 0.1)
            if response.closed:
                break

    assert response.statuses == [408]
    assert time.monotonic() - begun < LATE


def test_a_body_after_a_repeated_head_must_arrive_in_time(here: Running) -> None:
    whole = sized()
    with connect(here.url) as peer:
        send_bytes(peer, whole)
        first = read_response(peer, 5, until=b"}}")
        begun = time.monotonic()
        send_bytes(peer, whole[:-5])
        response = read_response(peer, 10)

    assert len(first.statuses) == 1
    assert response.statuses == [408]
    assert response.closed
    assert time.monotonic() - begun < LATE


@pytest.mark.parametrize("before", [(), (sized(),)], ids=["new", "known"])
@pytest.mark.parametrize("size", [1048576, 60_000])
def test_a_trickling_body_gets_no_more_time(
    here: Running, before: tuple[bytes, ...], size: int
) -> None:
    with connect(here.url) as peer:
        for request in before:
            send_bytes(peer, request)
            read_response(peer, 5, until=b"}}")
        begun = time.monotonic()
        send_bytes(peer, chat(b"Content-Length: %d" % size, body=b"{"))
        received: list[RawResponse] = []
        while not (received and received[-1].closed) and time.monotonic() - begun < 2 * LATE:
            send_bytes(peer, b" ")
            received.append(read_response(peer, 0.2))

    assert b"".join(each.data for each in received).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begun < LATE


def test_a_body_that_keeps_arriving_is_read(here: Running) -> None:
    with connect(here.url) as peer:
        send_bytes(peer, chat(b"Content-Length: 5120", body=b""))
        for byte in b"nope!":
            early = read_response(peer, 0.6 * SHORT)
            send_bytes(peer, bytes([byte]) * 1024)
        response = read_response(peer, 5, until=b"}}")

    assert early.data == b""
    assert response.status == 400


def test_an_idle_connection_is_closed_without_a_response(here: Running) -> None:
    with connect(here.url) as fresh, connect(here.url) as used:
        send_bytes(used, HEALTH)
        assert read_response(used, 5, until=b"true}").status == 200

        responses = [read_response(peer, LATE) for peer in (fresh, used)]

    assert all(each.closed for each in responses)
    assert all(each.data == b"" for each in responses)


def flood(arrived: ReceivedRequest) -> MockResponse:
    """A stream of 200 MiB."""
    return MockResponse.stream(*[EVENT % (b"a" * 65536)] * 3200)


@pytest.mark.parametrize("server", LOOPS)
def test_a_slow_reader_uses_little_memory(tmp_path: Path, server: str) -> None:
    started = running(tmp_path, "--loop", server, variables={"GATEWAY_DRAIN_MS": "0"})
    with vendor(flood) as lab, started as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        memory = psutil.Process(here.process.pid)
        # The first ones also pay for what all share.
        first = [stack.enter_context(slow_reader(here)) for _ in range(10)]
        settle(memory)
        before = memory.memory_info().rss

        readers = [stack.enter_context(slow_reader(here)) for _ in range(READERS)]
        settle(memory)
        assert all(peer.recv(1024) for peer in first + readers)
        probe = Probe(here)
        with probe.asking():
            settle(memory)
        grown = memory.memory_info().rss - before

    assert grown < READERS * MIB
    assert probe.usual < 0.5


def slow_reader(here: Running) -> socket.socket:
    """A client with a tiny receive buffer that has requested a stream."""
    host, port = here.url.removeprefix("http://").split(":")
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.settimeout(20)
    peer.connect((host, int(port)))
    send_bytes(peer, sized(STREAM))
    return peer


def settle(memory: psutil.Process) -> None:
    """Wait until a process's memory stops growing, for four seconds at most."""
    deadline, before, still = time.monotonic() + 4, 0, 0
    while still < 6 and time.monotonic() < deadline:
        now = memory.memory_info().rss
        still = still + 1 if abs(now - before) < MIB // 4 else 0
        before = now
        threading.Event().wait(0.06)


@pytest.mark.parametrize("server", LOOPS)
def test_a_gateway_short_of_memory_refuses_inference_only(tmp_path: Path, server: str) -> None:
    tight = {"GATEWAY_MEMORY_MB": "1"}
    with running(tmp_path, "--loop", server, variables=tight) as here, connect(here.url) as idle:
        refused = send_and_read(here.url, sized(), until=b"}}")
        health = send_and_read(here.url, HEALTH, until=b"true}")
        kept = read_response(idle, LATE)

    assert refused.status == 503
    assert b"\r\nretry-after: 1\r\n" in refused.data.lower()
    assert b'"error":{' in refused.body
    assert health.status == 200
    assert kept.closed
