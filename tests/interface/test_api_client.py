"""The command line sends its token only to the gateway of the same data directory."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from custom_node import add_node
from gateway_process import COMMAND, running, vendor
from streaming_clients import StreamingClients, endless, wait_until_refused

from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER

ASK = ["api", "GET", "/api/settings"]
RESET = ["reset-password"]


@contextmanager
def stranger() -> Iterator[tuple[int, list[bytes]]]:
    """Another program on the machine: its port, and what it received."""
    heard: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as waiting:

        def listen() -> None:
            while True:
                try:
                    peer, _ = waiting.accept()
                except OSError:
                    return
                with peer:
                    heard.append(peer.recv(65536))
                    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield waiting.getsockname()[1], heard
        waiting.shutdown(socket.SHUT_RDWR)
        thread.join(10)


Reported = subprocess.CompletedProcess[str]


def command(data_dir: Path, words: list[str], **variables: str) -> Reported:
    environment = {**os.environ, "DATA_DIR": str(data_dir), **variables}
    return subprocess.run(
        [COMMAND, *words], env=environment, capture_output=True, text=True, timeout=30
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_gateway_is_found_on_any_port(tmp_path: Path, workers: str) -> None:
    with running(tmp_path, "--host", "127.0.0.3", "--workers", workers) as here:
        completed = command(tmp_path, ASK)
        small = command(tmp_path, ["api", "get", *ASK[2:]])
        reset = command(tmp_path, RESET)

    assert "127.0.0.3" in here.url
    assert (completed.returncode, completed.stderr) == (0, "")
    assert '"requireApiKey"' in completed.stdout
    assert small.stdout == completed.stdout
    assert (reset.returncode, reset.stderr) == (0, "")


def test_another_program_on_the_default_port_gets_no_token(tmp_path: Path) -> None:
    DataDir(tmp_path)
    with stranger() as (port, heard):
        completed = command(tmp_path, ASK, PORT=str(port))

    assert heard == []
    assert completed.returncode == 1
    assert completed.stderr == (
        f"Error: No gateway listens with the data directory {tmp_path}. Start it, set DATA_DIR to "
        "the directory it uses, or say with --url where it is.\n"
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_another_program_on_the_port_of_a_killed_gateway_gets_no_token(
    tmp_path: Path, workers: str
) -> None:
    with stranger() as (port, heard), running(tmp_path, "--workers", workers) as here:
        here.kill()
        left = tmp_path / "gateway.address"
        was = left.read_text()
        left.write_text(f"http://127.0.0.1:{port}")
        completed = command(tmp_path, ASK)

    assert was == here.url
    assert heard == []
    assert "No gateway listens" in completed.stderr


def test_a_stopping_gateway_is_not_found_while_its_last_streams_end(tmp_path: Path) -> None:
    with vendor(endless) as lab, running(tmp_path) as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        StreamingClients(here, stack)
        here.process.send_signal(signal.SIGTERM)
        wait_until_refused(here)
        completed = command(tmp_path, ASK)
        still = here.process.poll() is None

    assert still
    assert "No gateway listens" in completed.stderr


def test_the_operator_may_name_the_url(tmp_path: Path) -> None:
    with stranger() as (port, heard):
        completed = command(tmp_path, [*ASK, "--url", f"http://127.0.0.1:{port}/"])

    assert completed.stdout == "{}\n"
    assert heard[0].startswith(b"GET /api/settings HTTP/1.1\r\n")
    assert CLI_HEADER.encode() in heard[0].lower()


def test_only_the_gateways_user_may_read_its_address(tmp_path: Path) -> None:
    with running(tmp_path):
        mode = (tmp_path / "gateway.address").stat().st_mode & 0o777

    assert mode == 0o600
