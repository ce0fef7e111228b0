"""The commands of this folder: ``python -m benchmarks run``, ``quick``, ``others``, ``profile``,
``count``, ``kills``, ``sockets``, ``batches``."""

import argparse
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

from msgspec.structs import replace

from . import engines, instructions, profiling
from .batches import run_batch
from .dashboard import NoBrowser, load_pages
from .kills import soak
from .kinds import compare_kinds
from .lifetime import LATE, compare_workers, live
from .native import LoadFailed
from .others import BESIDE, OTHERS, fetch
from .peers import PEERS, Peer
from .processes import DidNotStart
from .report import OTHERS as marks_of_others
from .report import beside_others, into_readme, report
from .results import OTHERS as results_of_others
from .results import Results, begun, keep
from .rounds import Scenario, measure
from .scale import compare, growths
from .scenarios import FULL, QUICK
from .shares import NoShares
from .sockets import hold
from .stage import RunningPeer, Stage, set_up
from .tools import ToolMissing

PARTS = ("modes", "scale", "lifetime", "kinds", "engines", "dashboard", "workers")
ROWS = 5_000_000

Part = Callable[[Stage, Results], Results]
"""Measures one part and adds its results."""


def main() -> int:
    """Run one command and return the exit code."""
    words = argument_parser().parse_args()
    _raise_file_limit()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # so that children end too
    try:
        code: int = words.run(words)
    except (ToolMissing, DidNotStart, LoadFailed) as error:
        print(error, file=sys.stderr)
        return 2
    return code


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = _command(commands, "run", _run, "everything; writes results/latest.json and README.md")
    run.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    run.add_argument("--ledger-rows", type=int, default=ROWS, help="in the large ledger")
    run.add_argument("--requests", type=int, default=LATE, help="in the memory run")
    _command(commands, "quick", _quick, "plain and stream only; writes nothing")
    _command(
        commands, "others", _others, "other gateways; writes results/others.json and README.md"
    )
    profile = _command(commands, "profile", _profile, "where the gateway spends its time")
    profile.add_argument("mode", nargs="?", default="plain", help="the mode to load")
    profile.add_argument("--top", type=int, default=40, help="how many lines")
    profile.add_argument("--limited", action="store_true", help="with a key that has limits")
    count = _command(commands, "count", _count, "instructions for each plain answer")
    count.add_argument("--save", action="store_true", help="make this the figure to compare with")
    kills = _command(commands, "kills", _kills, "rows lost by a gateway that is killed under load")
    kills.add_argument("--kills", type=int, default=200)
    kills.add_argument("--rows", type=int, default=200_000, help="answers in all")
    kills.add_argument("--workers", type=int, default=1, help="of the gateway")
    sockets = _command(commands, "sockets", _sockets, "realtime sockets that stay open")
    sockets.add_argument("--seconds", type=float, default=300.0)
    sockets.add_argument("--every", type=float, default=10.0, help="seconds between two lines")
    sockets.add_argument("--idle", type=int, default=500, help="sockets that say nothing")
    sockets.add_argument("--busy", type=int, default=50, help="sockets with a conversation")
    batches = _command(commands, "batches", _batches, "a long batch, from its upload to its end")
    batches.add_argument("--rows", type=int, default=100_000)
    batches.add_argument("--size", type=int, default=1024, help="bytes of a row, about")
    batches.add_argument("--at-once", type=int, default=2, help="rows under way at a time")
    batches.add_argument("--every", type=float, default=10.0, help="seconds between two lines")
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], int],
    purpose: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=purpose, description=purpose)
    command.set_defaults(run=run)
    return command


def _run(words: argparse.Namespace) -> int:
    parts: dict[str, Part] = {
        "modes": lambda stage, results: _modes(stage, results, FULL),
        "lifetime": lambda stage, results: _lifetime(stage, results, words.requests),
        "scale": lambda stage, results: _scale(stage, results, words.ledger_rows),
        "kinds": _kinds,
        "engines": lambda stage, results: _engines(
            stage, results, min(words.ledger_rows, engines.ROWS)
        ),
        "dashboard": _dashboard,
        "workers": _workers,  # last, because the vendor sleeps from then on
    }
    results, start = begun(), time.monotonic()
    with set_up(os.sched_getaffinity(0)) as stage:
        for name, part in parts.items():
            if name in (words.only or PARTS):
                results = part(stage, results)
    results = _noted(results, f"The run took {(time.monotonic() - start) / 60:.1f} minutes.")
    print(report(results))
    if words.only is None:
        keep(results)
        into_readme(report(results))
    return 0


def _others(words: argparse.Namespace) -> int:
    results = begun()
    for note in fetch():
        results = _noted(results, note)
    with set_up(os.sched_getaffinity(0)) as stage:
        results = _modes(stage, results, BESIDE, OTHERS)
    print(beside_others(results))
    keep(results, results_of_others)
    into_readme(beside_others(results), marks_of_others)
    return 0


def _quick(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        print(report(_modes(stage, begun(), QUICK)))
    return 0


def _modes(
    stage: Stage,
    results: Results,
    scenarios: tuple[Scenario, ...],
    peers: tuple[Peer, ...] = PEERS,
) -> Results:
    wanted = {name for scenario in scenarios for name in scenario.peers}
    running: dict[str, RunningPeer] = {}
    with ExitStack() as stack:
        for peer in peers:
            if peer.name in wanted:
                try:
                    running[peer.name] = stack.enter_context(stage.running_peer(peer))
                except (ToolMissing, DidNotStart) as error:
                    results = _noted(results, f"{peer.name} was left out: {error}")
        for scenario in scenarios:
            _say(scenario.name)
            try:
                lines = measure(stage, running, scenario)
            except LoadFailed as error:
                results = _noted(results, f"{scenario.name} was not measured: {error}")
            else:
                results = replace(results, lines=(*results.lines, *lines))
    return results


def _lifetime(stage: Stage, results: Results, requests: int) -> Results:
    _say("start and memory")
    return replace(results, lifetime=live(stage, requests))


def _dashboard(stage: Stage, results: Results) -> Results:
    _say("the dashboard's first page")
    try:
        return replace(results, first_page=load_pages(stage))
    except NoBrowser as error:
        return _noted(results, f"The dashboard's first page was not measured: {error}.")


def _workers(stage: Stage, results: Results) -> Results:
    _say("workers")
    try:
        for compared in compare_workers(stage):
            results = replace(results, workers=(*results.workers, compared))
    except NoShares as error:
        results = _noted(results, f"Workers with a share of a core were not measured: {error}.")
    if not results.workers:
        return _noted(results, "This build serves with one process, so workers are not measured.")
    return results


def _engines(stage: Stage, results: Results, rows: int) -> Results:
    _say("PostgreSQL")
    with engines.running_server() as server:
        results = replace(results, engines=engines.compare_engines(stage, server))
        grown = engines.compare_ledgers(stage, server, rows)
        workers = engines.compare_workers(stage, server)  # last, as above
    return replace(results, grown=(*results.grown, grown), workers=(*results.workers, workers))


def _kinds(stage: Stage, results: Results) -> Results:
    _say("embeddings beside chat")
    return replace(results, kinds=compare_kinds(stage))


def _scale(stage: Stage, results: Results, rows: int) -> Results:
    for grown in growths(rows):
        _say(f"{grown.small:,} → {grown.large:,} {grown.name}")
        try:
            compared = compare(stage, grown)
        except (LoadFailed, DidNotStart) as error:
            results = _noted(results, f"{grown.name} were not measured: {error}")
        else:
            results = replace(results, grown=(*results.grown, compared))
    return results


def _profile(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        print(profiling.profiled(stage, words.mode, words.top, is_limited=words.limited))
    return 0


def _count(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        counted = instructions.count(stage)
    before = instructions.kept()
    print(instructions.compared(counted, before))
    if words.save:
        instructions.save(counted)
    return 0 if words.save or instructions.is_within(counted, before) else 1


def _kills(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        outcome = soak(stage, words.kills, words.rows, words.workers)
    print(outcome)
    return 1 if outcome.lost or outcome.doubled else 0


def _sockets(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        load = hold(
            stage, idle=words.idle, busy=words.busy, seconds=words.seconds, every=words.every
        )
    print(load)
    return 1 if load.refused or load.lost else 0


def _batches(words: argparse.Namespace) -> int:
    with set_up(os.sched_getaffinity(0)) as stage:
        load = run_batch(
            stage, rows=words.rows, size=words.size, at_once=words.at_once, every=words.every
        )
    print(load)
    return 0 if load.completed == load.rows else 1


def _noted(results: Results, note: str) -> Results:
    _say(note)
    return replace(results, notes=(*results.notes, note))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _raise_file_limit() -> None:
    """Allow as many open files as possible: a proxy needs two for each of 1,000 streams."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    sys.exit(main())
