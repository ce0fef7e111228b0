"""Clients with a stream each, and the statuses in the ledger."""

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from fake_vendor import Asked, Said
from lab import END, EVENT, STREAM
from process import Running
from raw import call, hear, sized, tell

STREAMS = 50


def slow(asked: Asked) -> Said:
    """A stream that lasts a second and then ends properly."""
    return Said.stream(EVENT % b"a", EVENT % b"b", END, pause=0.4)


def endless(asked: Asked) -> Said:
    return Said.stream(EVENT % b"a", hang=True)


class Crowd:
    """Clients with a stream each, whose first event has arrived."""

    def __init__(self, here: Running, stack: ExitStack) -> None:
        self.peers = [stack.enter_context(call(here.url)) for _ in range(STREAMS)]
        for peer in self.peers:
            tell(peer, sized(STREAM))
        for peer in self.peers:
            assert hear(peer, 15, until=b'"content":"a"').status == 200

    def rest(self) -> list[bytes]:
        """The data that each client still gets, until its connection closes."""
        heard = [hear(peer, 15) for peer in self.peers]
        assert all(each.closed for each in heard)
        return [each.data for each in heard]


def statuses(data_dir: Path) -> list[str]:
    """The status of each request in the ledger."""
    with sqlite3.connect(data_dir / "db" / "data.sqlite") as database:
        return [row[0] for row in database.execute("SELECT status FROM usage")]


def is_refused(here: Running) -> bool:
    try:
        call(here.url).close()
    except ConnectionError:
        return True
    return False


def wait_until_refused(here: Running) -> None:
    """Wait until new connections are refused: the stop has begun then."""
    deadline = time.monotonic() + 5
    while not is_refused(here):
        assert time.monotonic() < deadline
