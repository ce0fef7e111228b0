"""Does a request cost more in a large installation? A small and a large one take turns."""

import statistics
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from msgspec import Struct

from . import growth
from .answers import BY_NAME
from .installation import Change
from .peers import LIMITED, OWN, Peer
from .processes import memory
from .rounds import WARM, ratio
from .stage import RunningPeer, Sample, Stage

SECONDS = 1.5
ROUNDS = 3
BUNDLED = 34
"""Plugins that come with the gateway, about; more are written beside them."""


class Growth(Struct, frozen=True, kw_only=True):
    """Something that grows: how many in the small installation and in the large one."""

    name: str
    small: int
    large: int
    peer: Peer = OWN
    add: Callable[..., Awaitable[None]] | None = None
    """Inserts so many into the stores; ``None`` for plugins, which are not stored."""


class Grown(Struct, frozen=True, kw_only=True, rename="camel"):
    """A small and a large installation, compared. Processor time in microseconds per answer."""

    name: str
    small: int
    large: int
    small_cpu: float
    large_cpu: float
    ratio: float | None
    """Of the large one's processor time to the small one's, by rounds."""
    small_p50: float
    large_p50: float
    small_start: float
    large_start: float
    """Seconds until the first answer."""
    small_rss: float
    large_rss: float
    """MiB after the load."""


def growths(rows: int) -> tuple[Growth, ...]:
    """What is grown; ``rows`` in the large ledger."""
    return (
        Growth(name="keys", small=100, large=100_000, add=growth.add_keys),
        Growth(name="plugins", small=BUNDLED, large=200),
        Growth(name="accounts", small=10, large=10_000, add=growth.add_accounts),
        Growth(name="ledger rows", small=0, large=rows, peer=LIMITED, add=growth.add_rows),
    )


def compare(stage: Stage, grown: Growth) -> Grown:
    """Measure one growth. Raises LoadFailed, DidNotStart."""
    with ExitStack() as stack:
        pair = [
            stack.enter_context(_standing(stage, grown, count))
            for count in (grown.small, grown.large)
        ]
        for one in pair:
            _sample(stage, one, WARM)
        turns = [[_sample(stage, one, SECONDS) for one in pair] for _ in range(ROUNDS)]
        by_peer = [list(each) for each in zip(*turns, strict=True)]
        return summed(grown.name, (grown.small, grown.large), pair, by_peer)


def _standing(stage: Stage, grown: Growth, count: int) -> AbstractContextManager[RunningPeer]:
    change, variables = _changes(stage, grown, count)
    return stage.running_peer(grown.peer, change=change, variables=variables)


def _changes(stage: Stage, grown: Growth, count: int) -> tuple[Change | None, Mapping[str, str]]:
    if grown.add is None:
        folder = stage.folder / f"plugins-{count}"
        return None, growth.add_plugins(folder, max(count - BUNDLED, 0))
    return (partial(grown.add, count=count) if count else None), {}


def _sample(stage: Stage, running: RunningPeer, seconds: float) -> Sample:
    return stage.sample(running, BY_NAME["plain"], 1024, connections=32, seconds=seconds)


def summed(
    name: str, counts: tuple[int, int], pair: list[RunningPeer], turns: list[list[Sample]]
) -> Grown:
    """The samples of a small and a large installation, which still run, as one result."""
    cpu = [[sample.cpu for sample in own] for own in turns]
    p50 = [statistics.median(sample.load.p50 for sample in own) for own in turns]
    starts = [one.started.seconds if one.started else 0.0 for one in pair]
    held = [memory(one.pid).rss for one in pair]
    return Grown(
        name=name,
        small=counts[0],
        large=counts[1],
        small_cpu=statistics.median(cpu[0]),
        large_cpu=statistics.median(cpu[1]),
        ratio=ratio(cpu[1], cpu[0]),
        small_p50=p50[0],
        large_p50=p50[1],
        small_start=starts[0],
        large_start=starts[1],
        small_rss=held[0],
        large_rss=held[1],
    )
