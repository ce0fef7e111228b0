"""How soon a gateway answers, what it holds when idle, and whether that grows; and workers."""

import os
import signal
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from .answers import BY_NAME
from .peers import OWN, Peer, gateway
from .processes import memory
from .stage import Sample, Stage, Standing

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
"""What workers are compared with: answers that cost as little as the load itself, and others."""


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
    """Answers each second with one worker and with two, free to use every core."""

    mode: str
    one: float
    two: float
    ratio: float
    cost_one: float
    """Processor time of the gateway for each answer, in microseconds."""
    cost_two: float
    cores: int


def live(stage: Stage, late: int = LATE) -> Lifetime:
    """Start several times, then load one for long. Raises DidNotStart, LoadFailed."""
    starts = []
    for _ in range(STARTS):
        with stage.standing(OWN) as standing:
            starts.append(_seconds(standing))
    with stage.standing(OWN) as standing:
        time.sleep(IDLE)
        idle = memory(standing.pid).rss
        _load(stage, standing, EARLY)
        early = memory(standing.pid).rss
        _load(stage, standing, late)
        return Lifetime(
            start=statistics.median(starts),
            start_high=max(starts),
            idle=idle,
            early=early,
            late=memory(standing.pid).rss,
            early_answers=EARLY,
            late_answers=late,
        )


def offers_workers() -> bool:
    """Whether this build can serve with several processes."""
    command = [str(Path(sys.executable).parent / "model-gateway"), "--help"]
    told = subprocess.run(command, capture_output=True, check=False)
    return b"--workers" in told.stdout


def compare_workers(stage: Stage) -> tuple[Workers, ...]:
    """One worker beside two, in turns. Nothing where the build has no workers."""
    if not offers_workers():
        return ()
    every = stage.cores.all
    os.kill(stage.vendor.pid, signal.SIGUSR1)  # Workers want the cores on which it would not sleep.
    with ExitStack() as stack:
        pair = [
            stack.enter_context(stage.standing(_with_workers(count), where=every))
            for count in ("1", "2")
        ]
        time.sleep(READY)
        return tuple(_compare(stage, pair, mode) for mode in SHARED_OUT)


def _compare(stage: Stage, pair: list[Standing], mode: str) -> Workers:
    turns = [[_turn(stage, one, mode) for one in pair] for _ in range(ROUNDS + 1)][1:]
    rates = [[_rate(sample) for sample in turn] for turn in turns]
    one, two = (statistics.median(each) for each in zip(*rates, strict=True))
    costs = zip(*([sample.cpu for sample in turn] for turn in turns), strict=True)
    cost_one, cost_two = map(statistics.median, costs)
    return Workers(
        mode=mode,
        one=one,
        two=two,
        ratio=statistics.median(second / first for first, second in rates),
        cost_one=cost_one,
        cost_two=cost_two,
        cores=len(stage.cores.all),
    )


def _with_workers(count: str) -> Peer:
    return gateway(f"gateway, {count} workers", "--server", "uvloop", "--workers", count)


def _seconds(standing: Standing) -> float:
    assert standing.started is not None
    return standing.started.seconds


def _load(stage: Stage, standing: Standing, count: int) -> Sample:
    return stage.sample(standing, BY_NAME["plain"], 1024, connections=32, count=count)


def _turn(stage: Stage, standing: Standing, mode: str) -> Sample:
    asked = BY_NAME[mode]
    return stage.sample(standing, asked, 1024, connections=64, seconds=SECONDS, sleeps=True)


def _rate(sample: Sample) -> float:
    return sample.load.answers / sample.load.seconds
