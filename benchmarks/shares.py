"""A share of a core for each of several processes, where the kernel's control groups can be used.

So what two processes do can be compared with what one does on a machine that has no cores to
spare for them: each gets as much time as it would get on a core of its own, only less of it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

PERIOD = 10_000
"""Microseconds in which a process may use its share once."""
MOUNTS = Path("/proc/mounts")


class NoShares(Exception):
    """Processor time cannot be limited here; the message says why."""


@contextlib.contextmanager
def shares(processes: Sequence[int], share: float) -> Iterator[None]:
    """Inside the block each process has at most this share of a core. Raises NoShares."""
    made: list[Path] = []
    try:
        for process in processes:
            try:
                made.append(_group(f"gateway-bench-{process}"))
                _limit(made[-1], share)
                (made[-1] / "cgroup.procs").write_text(str(process))
            except OSError as error:
                raise NoShares(f"control groups cannot be used: {error}") from None
        yield
    finally:
        for group in made:
            _leave(group)


def _group(name: str) -> Path:
    group = _root() / name
    group.mkdir()
    return group


def _limit(group: Path, share: float) -> None:
    quota = int(share * PERIOD)
    if (group / "cpu.cfs_quota_us").exists():
        (group / "cpu.cfs_period_us").write_text(str(PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    else:
        (group / "cpu.max").write_text(f"{quota} {PERIOD}")


def _leave(group: Path) -> None:
    """Remove the limit of a group's processes, and the group."""
    for process in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            (group.parent / "cgroup.procs").write_text(process)
    with contextlib.suppress(OSError):
        group.rmdir()


def _root() -> Path:
    """Where groups that share out time can be made: version 1 of control groups, or 2."""
    for line in MOUNTS.read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        here = Path(place)
        if kind == "cgroup" and "cpu" in options.split(","):
            return here
        if kind == "cgroup2" and "cpu" in (here / "cgroup.subtree_control").read_text().split():
            return here
    raise NoShares("no control group shares out processor time; that needs Linux and root")
