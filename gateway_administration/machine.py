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


def raise_descriptor_limit() -> int | None:
    """Raise the soft limit of open files and sockets to the hard one and return it.

    ``None`` where there is no limit. The soft limit is 1,024 on most systems, for the sake of
    programs that call ``select``; the event loops use ``epoll`` or ``kqueue``.
    """
    if sys.platform == "win32":
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Where the hard limit is unlimited the system may still refuse that for the soft one.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return None if soft == resource.RLIM_INFINITY else soft


def memory_size() -> int | None:
    """The machine's memory in bytes, or the container's where that is less."""
    sizes = []
    if sys.platform != "win32":
        with suppress(OSError, ValueError):
            sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _CONTAINER:
        # The newer layout has the word "max" where there is no limit.
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min((size for size in sizes if size), default=None)


def memory_used() -> int | None:
    """The memory this process holds right now, in bytes; ``None`` where nothing says so."""
    with suppress(OSError, ValueError, IndexError):
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def has_terminal() -> bool:
    """Whether there is a controlling terminal: without one /dev/tty cannot be opened, tty(4). A
    process has lost it before it gets the signal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0)))
    except OSError:
        return False
    return True
