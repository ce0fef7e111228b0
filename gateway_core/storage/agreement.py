"""What the processes on one data directory agree on: which engine they serve.

```text
a write ──▶ lock db/served beside others ──▶ is it as it was seen? ──▶ the transaction
                                               └─ no ─▶ follow: serve what it says
a change ─▶ lock db/change alone ─▶ mark db/served ─▶ lock it alone ─▶ … ─▶ say what is served
```

So a change waits for the writes of every process, and none of them writes to an engine that was
left. A lock ends with its process, however that ends. What became of a change whose process was
killed is seen in SQLite's settings, which a change writes last.

A write of 310 µs takes 2 µs longer by that, and a read of 30 µs takes 4 (``KeyValueStore.put`` and
``get`` on SQLite). So one process does the same as several: a reload may begin another one at any
time.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from secrets import randbits
from typing import Literal

import msgspec
from msgspec import Struct

from ..config.data_dir import PRIVATE_FILE

if sys.platform != "win32":
    import fcntl

Engine = Literal["sqlite", "postgres"]
SERVED = "served"
CHANGE = "change"
LOOK_AGAIN = 0.05
"""Seconds between two attempts at a lock that another process has."""
_SIZE = 128
"""Bytes of ``db/served``, whatever is in it: it is written over in place."""


class Served(Struct, frozen=True, kw_only=True):
    """What ``db/served`` says."""

    engine: Engine
    switch: int = msgspec.field(default_factory=lambda: randbits(31))
    """Counts switches: there may be several databases of one kind. It begins anywhere, so that a
    process of an earlier start does not take it for its own."""
    change: str | None = None
    """When a change began that has not ended; what became of it is in SQLite's settings."""


class Agreement:
    """One process's part in it. Whoever made it closes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.switch = 0
        """Which one led to the engine that this process serves."""
        self.seen = b""
        """What ``db/served`` contained when that was so."""
        self._file = os.open(folder / SERVED, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        self._writes = 0

    def close(self) -> None:
        os.close(self._file)
        self._file = -1

    def read(self) -> bytes:
        return os.pread(self._file, _SIZE, 0)

    def served(self) -> Served | None:
        """What is served; ``None`` before the first process has said so."""
        text = self.read()
        return msgspec.json.decode(text, type=Served) if text else None

    def say(self, served: Served) -> None:
        """Say what is served; only while no other process may. Raises OSError."""
        os.pwrite(self._file, msgspec.json.encode(served).ljust(_SIZE), 0)

    def take(self, switch: int) -> None:
        """This process serves what that switch led to, and has seen all that was said."""
        self.seen, self.switch = self.read(), switch

    @property
    def is_current(self) -> bool:
        """Whether nothing was said since. Takes no lock."""
        return self.read() == self.seen

    def begin_write(self) -> bool:
        """Keep a change waiting until ``end_write``; false if this process has to follow first."""
        # Locked before it looks: what it sees then stays as it is.
        if not self._writes and not _lock(self._file):
            return False
        self._writes += 1
        if self.is_current:
            return True
        self.end_write()
        return False

    def end_write(self) -> None:
        self._writes -= 1
        if not self._writes and self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    @contextmanager
    def unchanging(self) -> Iterator[bool]:
        """Let no change begin while the block runs; false if one is under way."""
        file = os.open(self.folder / CHANGE, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        try:
            yield _lock(file)
        finally:
            os.close(file)

    @asynccontextmanager
    async def standing(self) -> AsyncIterator[None]:
        """The same, once a change that is under way has ended."""
        while True:
            with self.unchanging() as is_unchanging:
                if is_unchanging:
                    yield
                    return
            await asyncio.sleep(LOOK_AGAIN)


def _lock(file: int) -> bool:
    """Lock a file beside others that do the same; false if somebody has it alone."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
