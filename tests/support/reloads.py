"""A gateway that is reloaded, its log, and clients that must not notice."""

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from custom_node import END, EVENT, STREAM
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import COMMAND, Running, running
from raw_http import RawResponse, connect, read_response, request, send_bytes, sized


class HeldStreams:
    """A vendor's script: streams that go on until they are released, and then end normally."""

    def __init__(self) -> None:
        self.is_released = False

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        if received.method != "POST":
            return MockResponse(status=404)  # A list of models is no stream.
        return MockResponse(
            _Pieces(self), content_type="text/event-stream", chunked=True, pause=0.5
        )


class _Pieces(tuple[bytes, ...]):
    """Pieces of which there are as many as are wanted."""

    held: HeldStreams
    passes = 0

    def __new__(cls, held: HeldStreams) -> "_Pieces":
        pieces = super().__new__(cls)
        pieces.held = held
        return pieces

    def __iter__(self) -> Iterator[bytes]:
        # The vendor measures a body before it sends it.
        self.passes += 1
        if self.passes > 1:
            yield EVENT % b"a"
            while not self.held.is_released:
                yield EVENT % b"b"
            yield END


class Reloaded:
    """A running gateway that writes its log to a file."""

    def __init__(self, here: Running, log: Path, data_dir: Path) -> None:
        self.here, self._log, self._data_dir = here, log, data_dir
        self.generation = 1

    @property
    def url(self) -> str:
        return self.here.url

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.here.process.pid)

    def log(self) -> str:
        return self._log.read_text()

    def hang_up(self) -> None:
        self.here.process.send_signal(signal.SIGHUP)

    def reload(self, how: str = "signal") -> None:
        """Reload, and wait until the next generation serves."""
        if how == "signal":
            self.hang_up()
        else:
            command = [COMMAND, "--data-dir", str(self._data_dir), "reload"]
            subprocess.run(command, check=True, timeout=60, capture_output=True)
        self.generation += 1
        self.wait_for(f"generation {self.generation} serves")

    def wait_for(self, *words: str) -> None:
        """Wait until the log has one of these."""
        deadline = time.monotonic() + 90
        while not any(each in self.log() for each in words):
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)  # another process is what is waited for

    def wait_for_processes(self, count: int) -> None:
        """Wait until this many processes are below the first one."""
        deadline = time.monotonic() + 60
        while len(below := self.process.children(recursive=True)) != count:
            assert time.monotonic() < deadline, below
            time.sleep(0.05)  # another process is what is waited for


@contextmanager
def reloadable(
    data_dir: Path, log: Path, *arguments: str, variables: Mapping[str, str] = {}
) -> Iterator[Reloaded]:
    """A gateway that is stopped when the block ends, and must stop in order."""
    with (
        log.open("w") as file,
        running(data_dir, *arguments, log=file, variables=variables) as here,
    ):
        yield Reloaded(here, log, data_dir)


def open_streams(url: str, count: int, stack: ExitStack) -> list[socket.socket]:
    """Clients that have each received the first event of a stream."""
    peers = [stack.enter_context(connect(url)) for _ in range(count)]
    for peer in peers:
        send_bytes(peer, sized(STREAM))
    for peer in peers:
        assert read_response(peer, 60, until=b'"content":"a"').status == 200
    return peers


def read_rest(peers: list[socket.socket]) -> list[RawResponse]:
    """The rest of each stream."""
    return [read_response(peer, 60, until=b"0\r\n\r\n") for peer in peers]


class Newcomers:
    """Clients that connect anew for each request, all the while: what they were refused."""

    def __init__(self, url: str) -> None:
        self.failures: list[str] = []
        self.served = 0
        self._url, self._over = url, threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(n,)) for n in range(2)]

    def __enter__(self) -> "Newcomers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def _work(self, number: int) -> None:
        # One of them lets time pass between connecting and asking, so that it may happen to be
        # accepted by a generation that is then retired.
        pause = 0.3 * number
        while not self._over.is_set():
            try:
                with connect(self._url) as peer:
                    self._over.wait(pause)
                    peer.sendall(request("GET /api/health"))
                    heard = read_response(peer, 30, until=b"true}")
            except OSError as error:
                self.failures.append(repr(error))
                continue
            if heard.status == 200:
                self.served += 1
            else:
                self.failures.append(repr(heard.data))
