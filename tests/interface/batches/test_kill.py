"""Batches of a gateway that is killed again and again, at any moment."""

import random
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from batch_clients import BatchClient, reply, row
from custom_node import add_node
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import Running, start, vendor

ROWS = 120
KILLS = 6
SETTINGS = {"PLUGIN_BATCHES_ROWS_AT_ONCE": "4"}


class Counting:
    """A vendor that takes its time, and says when it has answered so many requests."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.received = Counter[str]()
        self.is_due = threading.Event()
        self._due = 0

    def wait_for(self, more: int) -> None:
        """Until so many more requests have come, or a moment has passed without one."""
        self.is_due.clear()
        self._due = self.received.total() + more
        self.is_due.wait(2)

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        if received.method == "GET":
            return MockResponse((b'{"object":"list","data":[]}',))
        written = reply(received)
        self.received[received.json()["messages"][-1]["content"]] += 1
        if self.received.total() >= self._due:
            self.is_due.set()
        written.delay = self._chance.uniform(0.0, 0.03)
        return written


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_row_is_settled_once_however_often_the_gateway_is_killed(
    tmp_path: Path, seed: int
) -> None:
    chance, counting = random.Random(seed), Counting(seed)
    with vendor(counting) as received:
        here = start(tmp_path, **SETTINGS)
        add_node(here, tmp_path, received)
        with BatchClient(here.url, tmp_path) as client:
            id = client.create([row(n, model="lab/m") for n in range(ROWS)])["id"]
        for _ in range(KILLS):
            counting.wait_for(chance.randrange(1, 25))
            kill(here)
            here = start(tmp_path, **SETTINGS)
        with BatchClient(here.url, tmp_path) as client:
            ended = client.wait(id)
            output, errors = client.output(ended), client.errors(ended)
        kill(here)
        # What the last process has journaled, the next one writes.
        kill(start(tmp_path))

    settled = Counter(line["custom_id"] for line in [*output, *errors])
    assert settled == {f"row-{n}": 1 for n in range(ROWS)}
    assert ended["request_counts"]["total"] == ROWS
    rows = ledger(tmp_path)
    assert max(Counter(id for id, _ in rows).values()) == 1
    accounted = [id for id, code in rows if code != "interrupted"]
    marked = [id for id, code in rows if code == "interrupted"]
    # A marked request was under way at a kill: it may have reached the vendor or not.
    assert len(accounted) <= counting.received.total() <= len(accounted) + len(marked)
    assert len(marked) <= 4 * KILLS
    assert {line["response"]["request_id"] for line in output} <= set(accounted)


def kill(here: Running) -> None:
    here.kill()
    assert here.process.stdout is not None
    here.process.stdout.close()


def ledger(data_dir: Path) -> list[tuple[str, Any]]:
    """The requests of batches: ids, and the codes of their errors."""
    with closing(sqlite3.connect(data_dir / "db" / "data.sqlite")) as database:
        found = database.execute(
            "SELECT request_id, error_code FROM usage WHERE request_id LIKE 'req_%'"
        )
        return list(found)
