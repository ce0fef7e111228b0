"""Where the gateway spends its time: its functions under load, most expensive first."""

import io
import os
import pstats
import signal
import time
from pathlib import Path

from .answers import BY_NAME
from .peers import KEY, Peer
from .stage import SETTLE, RunningPeer, Stage

ROOT = Path(__file__).parents[1]
SECONDS = 4.0
WARM = 1.0
CONNECTIONS = 32
WRITE_LIMIT = 10.0
PROFILED = Peer(
    name="gateway under a profiler",
    command=("{bin}/python", "-m", "benchmarks.under_profile", "{port}", "{folder}", "{folder}/p"),
    variables={"PYTHONPATH": str(ROOT)},
    health="/api/health",
    headers=KEY,
    has_data=True,
)


def profiled(stage: Stage, mode: str, top: int, *, is_limited: bool = False) -> str:
    """Profile one mode and return the table. Times under a profiler are longer than real ones."""
    with stage.running_peer(PROFILED) as running:
        if is_limited:
            running = _limited(running)
        _load(stage, running, mode, WARM)
        os.kill(running.pid, signal.SIGUSR1)
        answers = _load(stage, running, mode, SECONDS)
        file = Path(str(running.words["folder"])) / "p"
        os.kill(running.pid, signal.SIGUSR2)
        _await(file)
        return _summary(file, mode, answers, top)


def _limited(running: RunningPeer) -> RunningPeer:
    words = {**running.words, "key": running.words["limited_key"]}
    return RunningPeer(running.peer, words, running.started)


def _load(stage: Stage, running: RunningPeer, mode: str, seconds: float) -> int:
    sample = stage.sample(running, BY_NAME[mode], 1024, connections=CONNECTIONS, seconds=seconds)
    return sample.load.answers


def _await(file: Path) -> None:
    """Wait until the profile is written whole."""
    until = time.monotonic() + WRITE_LIMIT
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(SETTLE)


def _summary(file: Path, mode: str, answers: int, top: int) -> str:
    text = io.StringIO()
    stats = pstats.Stats(str(file), stream=text)
    stats.sort_stats("tottime").print_stats(top)
    lines = [_short(line) for line in text.getvalue().splitlines() if line.strip()]
    return "\n".join([f"{answers} answers, mode {mode}, by own time:", *lines[1:]])


def _short(line: str) -> str:
    """A line without uninformative folders."""
    for before, after in ((f"{ROOT}/", ""), ("/site-packages/", "…/")):
        head, separator, rest = line.rpartition(before)
        if separator:
            line = head[: len(head) - len(head.split(" ")[-1])] + after + rest
    return line
