"""Taking turns: every peer is measured once in each round, and rounds are summed up by median.

So what changes on the machine meanwhile touches all peers alike, and ratios
compare turns that were seconds apart.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from .answers import BY_NAME
from .peers import BARE_NGINX, DIRECT, NGINX
from .processes import memory
from .questions import SIZES
from .stage import RunningPeer, Sample, Stage

WARM = 0.4
"""Seconds of load before the first round, not counted."""


class Scenario(Struct, frozen=True, kw_only=True):
    """One line-up: the mode, the size, the connections and the peers."""

    mode: str
    size: str = "1 KB"
    connections: int = 32
    peers: tuple[str, ...]
    seconds: float = 1.5
    rounds: int = 3
    count: int = 0
    """Answers in a turn; 0 goes by ``seconds``."""
    spread: float = 0.0
    """Seconds within which the connections begin, one after the other; 0 begins all at once."""
    is_fresh: bool = False
    """Each request opens a connection of its own."""

    @property
    def name(self) -> str:
        how = f", begun within {self.spread:g} s" if self.spread else ""
        new = "new " if self.is_fresh else ""
        return f"{self.mode}, {self.size}, {self.connections} {new}connections{how}"


class Line(Struct, frozen=True, kw_only=True, rename="camel"):
    """The results of one peer in one scenario: medians over the rounds. Times in microseconds."""

    scenario: str
    mode: str
    size: str
    connections: int
    spread: float
    peer: str
    answers: int
    errors: int
    rate: float
    """Answers each second."""
    cpu: float
    """For each answer."""
    cpu_low: float
    cpu_high: float
    p50: float
    p99: float
    first50: float
    first99: float
    to_nginx: float | None = None
    """Processor time beside nginx, of the same round."""
    to_bare_nginx: float | None = None
    added_p50: float | None = None
    """Latency beside direct, of the same round."""
    rss: float | None = None
    peak: float | None = None
    """MiB; the peak is of the process's whole life so far."""


def measure(stage: Stage, running: Mapping[str, RunningPeer], scenario: Scenario) -> list[Line]:
    """Measure a scenario's peers in turns. Raises LoadFailed."""
    here = [running[name] for name in scenario.peers if name in running]
    if not scenario.count:
        for peer in here:
            _turn(stage, peer, scenario, WARM)
    samples: dict[str, list[Sample]] = {peer.peer.name: [] for peer in here}
    for _ in range(scenario.rounds):
        for peer in here:
            taken = _turn(stage, peer, scenario, scenario.seconds)
            samples[peer.peer.name].append(taken)
    return [line(scenario, peer, samples, _memory(peer)) for peer in here]


def _turn(stage: Stage, peer: RunningPeer, scenario: Scenario, seconds: float) -> Sample:
    return stage.sample(
        peer,
        BY_NAME[scenario.mode],
        SIZES[scenario.size],
        connections=scenario.connections,
        seconds=600.0 if scenario.count else seconds,
        count=scenario.count,
        spread=scenario.spread,
        is_fresh=scenario.is_fresh,
    )


def _memory(peer: RunningPeer) -> Mapping[str, float]:
    if peer.started is None:
        return {}
    held = memory(peer.pid)
    return {"rss": held.rss, "peak": held.peak}


def line(
    scenario: Scenario,
    peer: RunningPeer,
    samples: Mapping[str, Sequence[Sample]],
    held: Mapping[str, float],
) -> Line:
    """Sum up one peer's turns."""
    own = samples[peer.peer.name]
    loads = [sample.load for sample in own]
    return Line(
        scenario=scenario.name,
        mode=scenario.mode,
        size=scenario.size,
        connections=scenario.connections,
        spread=scenario.spread,
        peer=peer.peer.name,
        answers=sum(load.answers for load in loads),
        errors=sum(load.errors for load in loads),
        rate=_median(load.answers / load.seconds for load in loads),
        cpu=_median(sample.cpu for sample in own),
        cpu_low=min(sample.cpu for sample in own),
        cpu_high=max(sample.cpu for sample in own),
        **{name: _median(getattr(load, name) for load in loads) for name in _TIMES},
        **_compared(own, samples),
        **held,
    )


_TIMES = ("p50", "p99", "first50", "first99")


def _compared(own: Sequence[Sample], samples: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    """Beside nginx and direct, round by round, where they took part."""
    figures: dict[str, Any] = {}
    for name, yardstick in (("to_nginx", NGINX), ("to_bare_nginx", BARE_NGINX)):
        if beside := samples.get(yardstick.name):
            figures[name] = ratio([s.cpu for s in own], [s.cpu for s in beside])
    if beside := samples.get(DIRECT.name):
        pairs = zip(own, beside, strict=True)
        figures["added_p50"] = _median(a.load.p50 - b.load.p50 for a, b in pairs)
    return figures


def ratio(above: Sequence[float], below: Sequence[float]) -> float | None:
    """The median of the rounds' ratios; ``None`` when there was too little to measure."""
    pairs = [a / b for a, b in zip(above, below, strict=True) if b > 0]
    return _median(pairs) if pairs else None


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)
