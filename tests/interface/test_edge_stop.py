"""Stopping a gateway with running streams (S43)."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from custom_node import add_node
from gateway_process import COMMAND, Running, running, vendor
from other_servers import until
from raw_http import connect, read_response, request, send_bytes
from streaming_clients import STREAMS, StreamingClients, endless, slow, statuses, wait_until_refused

from gateway_cli.event_loop import LOOPS


@contextmanager
def stopping(here: Running) -> Iterator[None]:
    """Send the signal to stop; when the block ends the gateway has stopped in order."""
    here.process.send_signal(signal.SIGTERM)
    yield
    assert here.process.wait(15) == 0


@pytest.mark.parametrize("server", LOOPS)
def test_on_a_stop_streams_may_finish_and_new_requests_are_refused(
    tmp_path: Path, server: str
) -> None:
    with vendor(slow) as lab, running(tmp_path, "--loop", server) as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        idle, half = (stack.enter_context(connect(here.url)) for _ in range(2))
        talk(idle)
        half_said(half)
        clients = StreamingClients(here, stack)

        with stopping(here):
            wait_until_refused(here)
            quiet = read_response(idle, 5)
            send_bytes(half, b"\r\n")
            late = read_response(half, 5)
            rest = clients.rest()

    assert quiet.closed
    assert quiet.data == b""
    assert late.statuses == [503]
    assert b"connection: close" in late.data.lower()
    assert late.closed
    assert all(b"[DONE]" in each for each in rest)
    assert statuses(tmp_path) == ["ok"] * STREAMS


@pytest.mark.parametrize("server", LOOPS)
def test_streams_end_with_an_error_when_their_time_is_up(tmp_path: Path, server: str) -> None:
    short = {"GATEWAY_DRAIN_MS": "300"}
    started = running(tmp_path, "--loop", server, variables=short)
    with vendor(endless) as lab, started as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        clients = StreamingClients(here, stack)

        with stopping(here):
            rest = clients.rest()

    assert all(b"The gateway is stopping" in each for each in rest)
    assert not any(b"[DONE]" in each for each in rest)
    assert statuses(tmp_path) == ["error"] * STREAMS


@pytest.mark.parametrize("server", LOOPS)
def test_a_second_signal_shortens_the_wait(tmp_path: Path, server: str) -> None:
    with (
        vendor(endless) as lab,
        running(tmp_path, "--loop", server) as here,
        ExitStack() as stack,
    ):
        add_node(here, tmp_path, lab)
        clients = StreamingClients(here, stack)
        begun = time.monotonic()

        with stopping(here):
            wait_until_refused(here)
            here.process.send_signal(signal.SIGTERM)
            rest = clients.rest()

    assert 1.5 < time.monotonic() - begun < 12
    assert all(b"The gateway is stopping" in each for each in rest)
    assert len(statuses(tmp_path)) == STREAMS


def talk(peer: socket.socket) -> None:
    """One request and its answer; the connection is kept."""
    send_bytes(peer, request("GET /api/health"))
    assert read_response(peer, 10, until=b"true}").status == 200


def half_said(peer: socket.socket) -> None:
    """All of a request but its last line, on a connection that was used before."""
    talk(peer)
    send_bytes(peer, request("GET /api/health")[:-2])


def test_a_signal_before_the_workers_start_stops_them() -> None:
    script = (
        "import signal, sys, time\n"
        "from gateway_cli.workers import supervise\n"
        "sys.exit(supervise(2, lambda place: time.sleep(60), [signal.SIGTERM]))\n"
    )

    ended = subprocess.run([sys.executable, "-c", script], timeout=20)

    assert ended.returncode == 0


def test_a_signal_during_the_start_is_obeyed(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    folder = tmp_path / "data" / "plugins"
    folder.mkdir(parents=True, mode=0o700)
    source = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(1)\n"
    (folder / "slow.py").write_text(source)
    environment = {**os.environ, "DATA_DIR": str(folder.parent), "GATEWAY_LOAD_PLUGINS": "slow"}
    command = [COMMAND, "--port", "0"]

    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            until(begun.exists)
            process.send_signal(signal.SIGTERM)
            ended = process.wait(20)
        finally:
            process.kill()

    assert ended == 0
