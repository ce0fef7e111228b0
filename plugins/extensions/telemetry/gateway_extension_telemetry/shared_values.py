"""Numbers of several processes in one folder: each writes a file of its own, and whoever is asked
adds them up.

The files are those of prometheus_client's multiprocess mode, which itself is bound to a variable
and to one registry a process; see https://prometheus.github.io/client_python/multiprocess/.
A process holds a lock on its file as long as it lives. The counts of one that has died while
others live stay, so that sums never go back; once nobody lives, everything begins at zero.
"""

import fcntl
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from uuid import uuid4

from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.utils import floatToGoString

INFINITY = float("inf")


class Counted:
    """The name of a count, and what it is counted by."""

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self.name, self.about, self.labels = name, about, labels


class SharedValues:
    """The numbers of one process. Used from one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, MmapedDict] = {}
        self._keys: dict[tuple[object, ...], str] = {}
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        token = uuid4().hex
        with locked(self._folder):
            # Before any file of this process exists.
            if not any(is_alive(each) for each in self._folder.glob("*.alive")):
                for file in (*self._folder.glob("*.db"), *self._folder.glob("*.alive")):
                    file.unlink()
            self._lock = (self._folder / f"{token}.alive").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            for kind in ("counter", "histogram"):
                self._files[kind] = MmapedDict(str(self._folder / f"{kind}_{token}.db"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.close()
        assert self._lock is not None
        self._lock.close()

    def add(self, counted: Counted, labels: Sequence[str], amount: float = 1.0) -> None:
        self._add("counter", counted, f"{counted.name}_total", counted.labels, labels, amount)

    def observe(
        self, counted: Counted, labels: Sequence[str], value: float, bounds: Iterable[float]
    ) -> None:
        """Count a value in the first bucket whose bound it does not exceed."""
        name, names, buckets = counted.name, (*counted.labels, "le"), (*bounds, INFINITY)
        if (f"{name}_sum", *labels) not in self._keys:
            for each in buckets:  # All of them are shown from the beginning.
                place = (*labels, floatToGoString(each))
                self._add("histogram", counted, f"{name}_bucket", names, place, 0.0)
        bound = floatToGoString(next(each for each in buckets if value <= each))
        self._add("histogram", counted, f"{name}_bucket", names, (*labels, bound), 1.0)
        self._add("histogram", counted, f"{name}_sum", counted.labels, labels, value)

    def _add(
        self,
        kind: str,
        counted: Counted,
        sample: str,
        names: Sequence[str],
        labels: Sequence[str],
        amount: float,
    ) -> None:
        known = (sample, *labels)
        key = self._keys.get(known)
        if key is None:
            key = mmap_key(counted.name, sample, list(names), list(labels), counted.about)
            self._keys[known] = key
        file = self._files[kind]
        file.write_value(key, file.read_value(key)[0] + amount, 0.0)


class locked:
    """Keeps other processes from adding and removing files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"

    def __enter__(self) -> None:
        self._file = self._path.open("wb")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def is_alive(path: Path) -> bool:
    """Whether the process that wrote a mark still runs."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def sums(folder: Path) -> list[Metric]:
    """The numbers of all processes together."""
    with locked(folder):
        files = sorted(map(str, folder.glob("*.db")))
        return list(MultiProcessCollector.merge(files))
