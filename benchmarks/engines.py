"""The gateway on PostgreSQL: a plain answer beside SQLite, two workers beside one, a large ledger.

The server is one that tests use, from a wheel; it has no core of its own, and writes without
waiting for its disk. What it uses is not counted: only what the gateway does for it.
"""

import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from . import growth
from .answers import BY_NAME
from .lifetime import READY, Workers, compare_pair, with_workers
from .peers import OWN, Peer
from .rounds import WARM, ratio
from .scale import Grown, summed
from .stage import RunningPeer, Sample, Stage

SUPPORT = Path(__file__).parents[1] / "tests" / "support"
ROWS = 1_000_000
SECONDS = 2.0
ROUNDS = 5


class Engines(Struct, frozen=True, kw_only=True, rename="camel"):
    """Processor time of the gateway for a plain answer, in microseconds, and latencies."""

    sqlite_cpu: float
    postgres_cpu: float
    ratio: float | None
    """Of the two, by rounds."""
    sqlite_p50: float
    postgres_p50: float


class Server:
    """A PostgreSQL server that makes databases."""

    def __init__(self, url: str, make_database: Callable[[str, str], str]) -> None:
        self._url, self._make_database = url, make_database
        self._count = 0

    def on_it(self, peer: Peer) -> Peer:
        """A peer of the gateway with an empty database there."""
        self._count += 1
        url = self._make_database(self._url, f"bench{self._count}")
        more = {"GATEWAY_PG_URL": url, "GATEWAY_PG_SSLMODE": "disable"}
        name = f"{peer.name} on PostgreSQL"
        return replace(peer, name=name, variables={**peer.variables, **more})


@contextmanager
def running_server() -> Iterator[Server]:
    """A server of this run alone."""
    sys.path.append(str(SUPPORT))
    servers = import_module("postgres_servers")
    with servers.own_server() as server:
        server.start()
        yield Server(server.url, servers.make_database)


def compare_engines(stage: Stage, server: Server) -> Engines:
    """A gateway on each engine, in turns. Raises LoadFailed, DidNotStart."""
    with ExitStack() as stack:
        peers = (OWN, server.on_it(OWN))
        pair = [stack.enter_context(stage.running_peer(peer)) for peer in peers]
        for one in pair:
            _sample(stage, one, WARM)
        turns = [[_sample(stage, one, SECONDS) for one in pair] for _ in range(ROUNDS)]
    cpu = [[turn[place].cpu for turn in turns] for place in (0, 1)]
    p50 = [statistics.median(turn[place].load.p50 for turn in turns) for place in (0, 1)]
    return Engines(
        sqlite_cpu=statistics.median(cpu[0]),
        postgres_cpu=statistics.median(cpu[1]),
        ratio=ratio(cpu[1], cpu[0]),
        sqlite_p50=p50[0],
        postgres_p50=p50[1],
    )


def compare_ledgers(stage: Stage, server: Server, rows: int = ROWS) -> Grown:
    """No rows in the ledger beside many. Raises LoadFailed, DidNotStart."""
    with ExitStack() as stack:
        pair = [
            stack.enter_context(
                stage.running_peer(
                    server.on_it(OWN),
                    change=partial(growth.add_rows, count=count) if count else None,
                )
            )
            for count in (0, rows)
        ]
        for one in pair:
            _sample(stage, one, WARM)
        turns = [[_sample(stage, one, SECONDS) for one in pair] for _ in range(ROUNDS)]
        by_peer = [list(each) for each in zip(*turns, strict=True)]
        return summed("ledger rows on PostgreSQL", (0, rows), pair, by_peer)


def compare_workers(stage: Stage, server: Server) -> Workers:
    """One worker beside two, free to use every core. Raises LoadFailed, DidNotStart."""
    os.kill(stage.vendor.pid, signal.SIGUSR1)  # Workers need the cores on which it would poll.
    with ExitStack() as stack:
        pair = [
            stack.enter_context(
                stage.running_peer(server.on_it(with_workers(count)), where=stage.cores.all)
            )
            for count in ("1", "2")
        ]
        time.sleep(READY)
        compared = compare_pair(stage, pair, "plain")
    return replace(compared, mode="plain on PostgreSQL")


def _sample(stage: Stage, running: RunningPeer, seconds: float) -> Sample:
    return stage.sample(running, BY_NAME["plain"], 1024, connections=32, seconds=seconds)
