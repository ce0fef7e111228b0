"""Clients with one stream each, and the status of their requests in the ledger."""

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from custom_node import END, EVENT, STREAM, without_models
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import Running
from raw_http import connect, read_response, send_bytes, sized

STREAMS = 50


@without_models
def slow(received: ReceivedRequest) -> MockResponse:
    """A stream that takes a second and ends normally."""
    return MockResponse.stream(EVENT % b"a", EVENT % b"b", END, pause=0.4)


@without_models
def endless(received: ReceivedRequest) -> MockResponse:
    return MockResponse.stream(EVENT % b"a", hang=True)


class StreamingClients:
    """Clients that have each received the first event of a stream."""

    def __init__(self, here: Running, stack: ExitStack) -> None:
        self.peers = [stack.enter_context(connect(here.url)) for _ in range(STREAMS)]
        for peer in self.peers:
            send_bytes(peer, sized(STREAM))
        for peer in self.peers:
            assert read_response(peer, 15, until=b'"content":"a"').status == 200

    def rest(self) -> list[bytes]:
        """Read from every client until its connection closes."""
        heard = [read_response(peer, 15) for peer in self.peers]
        assert all(each.closed for each in heard)
        return [each.data for each in heard]


def statuses(data_dir: Path) -> list[str]:
    """Return the status of each request in the ledger."""
    with sqlite3.connect(data_dir / "db" / "data.sqlite") as database:
        return [row[0] for row in database.execute("SELECT status FROM usage")]


def is_refused(here: Running) -> bool:
    try:
        connect(here.url).close()
    except ConnectionError:
        return True
    return False


def wait_until_refused(here: Running) -> None:
    """Wait until new connections are refused, which shows that the stop has begun."""
    deadline = time.monotonic() + 5
    while not is_refused(here):
        assert time.monotonic() < deadline
