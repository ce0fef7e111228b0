"""The targets for the figures, and whether they are met."""

from collections.abc import Iterator

from msgspec import Struct

from .peers import ASYNCIO, BY_HYPERCORN, DIRECT, HYPERCORN, LIMITED, OWN
from .results import Results
from .rounds import Line

FLAT = 1.1
"""How much more a request may cost in a large installation: noise of a short run."""
AT_ONCE = 1.3
"""How much longer the slowest of many slow streams may take; waiting in line doubles it."""
POSTGRES = 1.1
"""How much more a plain answer may cost on PostgreSQL: neither engine is waited for."""
EMBEDDINGS = 1.0
"""How much an embeddings call may cost beside a chat: it has less to be read, and no more rules."""
COUNTED = 1.15
"""How much more a plain answer may cost a key whose limits are counted."""
GROWTH_MIB = 3.0
"""How much memory may grow between two readings of the same load."""


class Target(Struct, frozen=True):
    """A limit and what was measured; ``None`` when it was not."""

    name: str
    limit: float
    unit: str
    measured: float | None
    beside: str = ""
    is_least: bool = False
    """The limit is a lower one."""

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        is_met = self.measured >= self.limit if self.is_least else self.measured <= self.limit
        return "met" if is_met else "missed"


_RATIOS = (
    ("plain", OWN.name, 5.0),
    ("stream", OWN.name, 2.0),
    ("paced", OWN.name, 2.7),
    ("messages", OWN.name, 6.0),
    ("messages-stream", OWN.name, 3.0),
    ("plain", ASYNCIO.name, 16.0),
    ("plain", BY_HYPERCORN.name, 16.0),
    ("plain", HYPERCORN.name, 16.0),
)


def targets(results: Results) -> list[Target]:
    """Every target that this run can judge."""
    parts = (
        *_ratios(results),
        *_limited(results),
        *_latency(results),
        *_workers(results),
        *_at_once(results),
        *_lifetime(results),
        *_first_page(results),
        *_growth(results),
        *_engines(results),
        *_kinds(results),
    )
    return [target for target in parts if target.measured is not None]


def _line(results: Results, mode: str, peer: str, connections: int) -> Line | None:
    return next(_lines(results, mode, peer, connections), None)


def _lines(results: Results, mode: str, peer: str, connections: int) -> Iterator[Line]:
    wanted = (mode, peer, connections, "1 KB")
    for line in results.lines:
        if (line.mode, line.peer, line.connections, line.size) == wanted:
            yield line


def _ratios(results: Results) -> Iterator[Target]:
    for mode, peer, limit in _RATIOS:
        for connections in (1, 32):
            for line in _lines(results, mode, peer, connections):
                how = f", begun within {line.spread:g} s" if line.spread else ""
                name = f"{peer}: {mode}, processor time ÷ nginx, {_many(connections)}{how}"
                bare = line.to_bare_nginx
                beside = f"{bare:.1f} to bare nginx" if bare else ""
                yield Target(name, limit, "×", line.to_nginx, beside)


def _limited(results: Results) -> Iterator[Target]:
    for connections in (1, 32):
        own, limited = (_line(results, "plain", peer.name, connections) for peer in (OWN, LIMITED))
        share = limited.cpu / own.cpu if own and limited and own.cpu else None
        name = f"limited key ÷ key without limits: plain, processor time, {_many(connections)}"
        yield Target(name, COUNTED, "×", share)


def _many(connections: int) -> str:
    return "1 connection" if connections == 1 else f"{connections} connections"


def _latency(results: Results) -> Iterator[Target]:
    line = _line(results, "plain", OWN.name, 1)
    added = line.added_p50 / 1000 if line and line.added_p50 is not None else None
    yield Target("added latency, p50 at one connection", 0.25, "ms", added)


def _workers(results: Results) -> Iterator[Target]:
    for each in results.workers:
        name = f"two workers ÷ one, answers each second, {each.mode}, {each.where}"
        yield Target(name, 1.8, "×", each.ratio, is_least=True)


def _at_once(results: Results) -> Iterator[Target]:
    """Whether many slow streams run beside each other, or some wait for others to end."""
    own, direct = (_line(results, "slow", peer.name, 1000) for peer in (OWN, DIRECT))
    share = own.p99 / direct.p99 if own and direct else None
    yield Target("1,000 slow streams: the slowest ÷ direct", AT_ONCE, "×", share)


def _lifetime(results: Results) -> Iterator[Target]:
    life = results.lifetime
    yield Target("/api/health after start", 0.6, "s", life.start if life else None)
    yield Target("idle memory", 60.0, "MiB", life.idle if life else None)
    name = f"memory that {life.late_answers if life else 'many'} answers add"
    yield Target(name, GROWTH_MIB, "MiB", life.late - life.early if life else None)


def _first_page(results: Results) -> Iterator[Target]:
    page = results.first_page
    size = page.overview_bytes / 1000 if page else None
    yield Target("files of the dashboard's first load, with charts", 300, "kB", size)
    yield Target("the overview in a browser", 1.0, "s", page.overview if page else None)


def _growth(results: Results) -> Iterator[Target]:
    for grown in results.grown:
        name = f"{grown.small:,} → {grown.large:,} {grown.name}: processor time"
        yield Target(name, FLAT, "×", grown.ratio)


def _engines(results: Results) -> Iterator[Target]:
    share = results.engines.ratio if results.engines else None
    yield Target("PostgreSQL ÷ SQLite: plain, processor time of the gateway", POSTGRES, "×", share)


def _kinds(results: Results) -> Iterator[Target]:
    for each in results.kinds:
        name = f"embeddings ÷ chat: processor time of the gateway, {_many(each.connections)}"
        yield Target(name, EMBEDDINGS, "×", each.ratio)
