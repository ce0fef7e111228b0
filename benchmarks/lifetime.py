"""Start-up time, idle memory, growth of memory under load, and workers."""

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from .answers import BY_NAME
from .peers import OWN, Peer, gateway
from .processes import memory, tree
from .shares import shares
from .stage import RunningPeer, Sample, Stage

STARTS = 5
IDLE = 2.0
"""Seconds after the first answer until idle memory is read."""
EARLY = 10_000
LATE = 100_000
READY = 3.0
"""Seconds until every worker serves, not only the first."""
SECONDS = 2.0
ROUNDS = 3
SHARED_OUT = ("plain", "messages-stream")
"""Modes that workers are compared in: cheap answers, and expensive ones."""
SHARE = 0.2
"""Of a core for each worker, so that there is processor time for all and for the load."""


class Lifetime(Struct, frozen=True, kw_only=True, rename="camel"):
    """Start in seconds, memory in MiB."""

    start: float
    """Until /api/health answers; the median of several starts."""
    start_high: float
    idle: float
    early: float
    """After ``early_answers``, by when pools and caches are full."""
    late: float
    """After ``late_answers`` more."""
    early_answers: int
    late_answers: int


class Workers(Struct, frozen=True, kw_only=True, rename="camel"):
    """Answers each second with one worker and with two."""

    mode: str
    share: float | None
    """Of a core for each worker; ``None`` when they were free to use every core."""
    one: float
    two: float
    ratio: float
    cost_one: float
    """Processor time of the gateway for each answer, in microseconds."""
    cost_two: float
    cores: int

    @property
    def where(self) -> str:
        """The cores they ran on."""
        if self.share is None:
            return f"sharing {self.cores} cores with vendor and load"
        return f"{self.share:.0%} of a core each"


def live(stage: Stage, late: int = LATE) -> Lifetime:
    """Start several times, then load one for long. Raises DidNotStart, LoadFailed."""
    starts = []
    for _ in range(STARTS):
        with stage.running_peer(OWN) as running:
            starts.append(_seconds(running))
    with stage.running_peer(OWN) as running:
        time.sleep(IDLE)
        idle = memory(running.pid).rss
        _load(stage, running, EARLY)
        early = memory(running.pid).rss
        _load(stage, running, late)
        return Lifetime(
            start=statistics.median(starts),
            start_high=max(starts),
            idle=idle,
            early=early,
            late=memory(running.pid).rss,
            early_answers=EARLY,
            late_answers=late,
        )


def offers_workers() -> bool:
    """Whether this build can serve with several processes."""
    command = [str(Path(sys.executable).parent / "model-gateway"), "--help"]
    help_text = subprocess.run(command, capture_output=True, check=False).stdout
    return b"--workers" in help_text


def compare_workers(stage: Stage) -> Iterator[Workers]:
    """One worker beside two, in turns: with a share of a core each, then free to use them all.

    Nothing where the build has no workers. Raises NoShares, last.
    """
    if not offers_workers():
        return
    every = stage.cores.all
    os.kill(stage.vendor.pid, signal.SIGUSR1)  # Workers need the cores on which it would poll.
    with ExitStack() as stack:
        pair = [
            stack.enter_context(stage.running_peer(with_workers(count), where=every))
            for count in ("1", "2")
        ]
        time.sleep(READY)
        for mode in SHARED_OUT:
            yield compare_pair(stage, pair, mode)
        for one in pair:
            stack.enter_context(shares(_serving(one), SHARE))
        for mode in SHARED_OUT:
            yield compare_pair(stage, pair, mode, SHARE)


def _serving(running: RunningPeer) -> list[int]:
    """The processes that serve: with several workers, not their parent."""
    first, *others = tree(running.pid)
    return others or [first]


def compare_pair(
    stage: Stage, pair: list[RunningPeer], mode: str, share: float | None = None
) -> Workers:
    """Running gateways with one worker and with two, in turns."""
    turns = [[_turn(stage, one, mode) for one in pair] for _ in range(ROUNDS + 1)][1:]
    rates = [[_rate(sample) for sample in turn] for turn in turns]
    one, two = (statistics.median(each) for each in zip(*rates, strict=True))
    costs = zip(*([sample.cpu for sample in turn] for turn in turns), strict=True)
    cost_one, cost_two = map(statistics.median, costs)
    return Workers(
        mode=mode,
        share=share,
        one=one,
        two=two,
        ratio=statistics.median(second / first for first, second in rates),
        cost_one=cost_one,
        cost_two=cost_two,
        cores=len(stage.cores.all),
    )


def with_workers(count: str) -> Peer:
    """The gateway with so many workers."""
    return gateway(f"gateway, {count} workers", "--server", "fast", "--workers", count)


def _seconds(running: RunningPeer) -> float:
    assert running.started is not None
    return running.started.seconds


def _load(stage: Stage, running: RunningPeer, count: int) -> Sample:
    return stage.sample(running, BY_NAME["plain"], 1024, connections=32, count=count)


def _turn(stage: Stage, running: RunningPeer, mode: str) -> Sample:
    return stage.sample(running, BY_NAME[mode], 1024, connections=128, seconds=SECONDS, sleeps=True)


def _rate(sample: Sample) -> float:
    return sample.load.answers / sample.load.seconds
