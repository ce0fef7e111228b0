"""Child processes on chosen cores, and their figures in /proc."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

TICKS = os.sysconf("SC_CLK_TCK")
START_LIMIT = 120.0
STOP_LIMIT = 40.0
MEMORY_LINES = {"VmRSS": "rss", "VmHWM": "peak"}


class DidNotStart(Exception):
    """A process ended, or answered nothing in time, with what it printed."""


class Cores(Struct, frozen=True):
    """Which cores each part runs on, so that no part takes time from another."""

    measured: frozenset[int]
    vendor: frozenset[int]
    load: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        return self.measured | self.vendor | self.load


class Memory(Struct, frozen=True):
    """Resident memory of a process tree, in MiB: now, and each process's most, together."""

    rss: float
    peak: float


class Started(Struct, frozen=True):
    """A running process that answers on its port."""

    process: "subprocess.Popen[bytes]"
    port: int
    seconds: float
    """From its start to its first answer."""

    @property
    def pid(self) -> int:
        return self.process.pid


def cores(available: Sequence[int]) -> Cores:
    """Share out cores: the measured part has one of its own when there are two, and
    so has the load when there are three."""
    measured, *others = (frozenset({core}) for core in available)
    vendor = others[0] if others else measured
    return Cores(measured, vendor, others[1] if len(others) > 1 else vendor)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def on(wanted: frozenset[int]) -> Iterator[None]:
    """Processes started inside the block run on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, wanted)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def run_process(
    command: Sequence[str | Path],
    port: int,
    where: frozenset[int],
    log: Path,
    *,
    variables: Mapping[str, str] = {},
    health: str | None = None,
    limit: float = START_LIMIT,
) -> Iterator[Started]:
    """A process from its first answer until the block ends. Raises DidNotStart.

    It has answered when ``health`` is answered with 200, or the port takes a
    connection where there is no such path. Only ``variables`` and PATH are set.
    """
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(log.parent), **variables}
    begun = time.perf_counter()
    with log.open("ab") as printed, on(where):
        process = subprocess.Popen(
            command, env=environment, stdout=printed, stderr=printed, cwd=log.parent
        )
    try:
        _wait(process, port, health, log, begun + limit)
        yield Started(process, port, time.perf_counter() - begun)
    finally:
        stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Terminate a process, and kill it if it does not end."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(
    process: "subprocess.Popen[bytes]", port: int, health: str | None, log: Path, until: float
) -> None:
    while not _answers(port, health):
        if process.poll() is not None or time.perf_counter() > until:
            raise DidNotStart(f"{log.name}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.005)


def _answers(port: int, health: str | None) -> bool:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        client.connect()
        if health is None:
            return True
        client.request("GET", health)
        return client.getresponse().status == 200
    except OSError:
        return False
    finally:
        client.close()


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    pids = [pid]
    for parent in pids:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{parent}/task").iterdir():
                pids += map(int, (thread / "children").read_text().split())
    return pids


def cpu_seconds(pid: int) -> float:
    """Time on a processor that the threads of a process tree have used, those that have ended
    left out."""
    return sum(_seconds(each) for each in tree(pid))


def _seconds(pid: int) -> float:
    """The scheduler's own count, in nanoseconds; a kernel without one counts in hundredths."""
    process = Path(f"/proc/{pid}")
    try:
        threads = [each.read_text() for each in process.glob("task/*/schedstat")]
        if threads:
            return sum(map(nanoseconds_of, threads)) / 1e9
        return ticks_of((process / "stat").read_text()) / TICKS
    except OSError:
        return 0.0


def nanoseconds_of(schedstat: str) -> int:
    """The first number of /proc/<pid>/task/<tid>/schedstat: time on a processor."""
    return int(schedstat.split()[0])


def ticks_of(stat: str) -> int:
    """User and system time in a line of /proc/<pid>/stat; the name in it may hold anything."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def memory(pid: int) -> Memory:
    """The memory of a process tree."""
    texts = []
    for each in tree(pid):
        with contextlib.suppress(OSError):
            texts.append(Path(f"/proc/{each}/status").read_text())
    parts = [memory_of(text) for text in texts]
    return Memory(sum(part.rss for part in parts), sum(part.peak for part in parts))


def memory_of(status: str) -> Memory:
    """The memory in the text of /proc/<pid>/status."""
    lines = (line.split() for line in status.splitlines())
    sizes = {words[0].rstrip(":"): int(words[1]) / 1024 for words in lines if words[2:] == ["kB"]}
    return Memory(**{name: sizes.get(line, 0.0) for line, name in MEMORY_LINES.items()})
