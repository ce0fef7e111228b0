"""What the machine, or the container, gives this process: memory and descriptors."""

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import resource

_STATM = Path("/proc/self/statm")
_CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""The limit of a container, in the newer and in the older layout."""


def descriptor_limit() -> int | None:
    """How many files and sockets this process may open; ``None`` where nothing says so."""
    if sys.platform == "win32":
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def memory_size() -> int | None:
    """The machine's memory in bytes, or the container's where that is less."""
    found = [size for size in (_physical(), *map(_number, _CONTAINER)) if size]
    return min(found, default=None)


def memory_used() -> int | None:
    """The memory this process holds right now, in bytes; ``None`` where nothing says so."""
    with suppress(OSError, ValueError, IndexError):
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def _physical() -> int | None:
    if sys.platform == "win32":
        return None
    with suppress(OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _number(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return None
