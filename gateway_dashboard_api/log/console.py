"""The last lines of this process's log, kept in memory until it ends."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from msgspec import Struct

from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.moments import iso

LINES = 500
BEHIND = 200
"""Lines that a slow reader may lag behind before it misses some."""
LONGEST = 2048
"""Characters of a message that are kept."""
LONGEST_TRACE = 16 * 1024
OURS = ("gateway_", "asyncio", "hypercorn")
"""How the names of loggers begin whose lines are kept: a program around the gateway has its own."""


class LogLine(Struct, frozen=True, kw_only=True):
    """One line of the log; ``number`` grows by one with each."""

    number: int
    at: str
    level: str
    logger: str
    message: str
    trace: str | None = None
    """Where an exception came from."""

    @property
    def text(self) -> str:
        return f"{self.level} {self.logger}: {self.message}"


Entry = LogLine | None
"""A line; ``None`` means that the log was cleared."""
_consoles: dict[int, "Console"] = {}
"""By the identity of a running gateway's core."""
_formatter = logging.Formatter()


class Console(logging.Handler):
    """A log handler that keeps the last lines and passes new ones to readers."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[LogLine] = deque(maxlen=LINES)
        self._readers: set[asyncio.Queue[Entry]] = set()
        self._loop = asyncio.get_running_loop()
        self._count = 0

    @property
    def lines(self) -> tuple[LogLine, ...]:
        return tuple(self._lines)

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.startswith(OURS)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            trace = _formatter.formatException(record.exc_info) if record.exc_info else None
            self._count += 1
            line = LogLine(
                number=self._count,
                at=iso(record.created),
                level=record.levelname,
                logger=record.name,
                message=record.getMessage()[:LONGEST],
                trace=trace and trace[-LONGEST_TRACE:],
            )
            self._loop.call_soon_threadsafe(self._take, line)
        except Exception:
            self.handleError(record)

    def clear(self) -> None:
        self._lines.clear()
        self._tell(None)

    @contextmanager
    def reader(self) -> Iterator[asyncio.Queue[Entry]]:
        """Return a queue of the lines from now on."""
        queue: asyncio.Queue[Entry] = asyncio.Queue(BEHIND)
        self._readers.add(queue)
        try:
            yield queue
        finally:
            self._readers.discard(queue)

    def _take(self, line: LogLine) -> None:
        self._lines.append(line)
        self._tell(line)

    def _tell(self, entry: Entry) -> None:
        for queue in self._readers:
            if not queue.full():
                queue.put_nowait(entry)


def console_of(core: Collaborators) -> Console | None:
    """Return the console of a running gateway; ``None`` outside its lifespan."""
    return _consoles.get(id(core))


@asynccontextmanager
async def capture_log(core: Collaborators) -> AsyncIterator[None]:
    """Capture the log until the block ends."""
    console = Console()
    _consoles[id(core)] = console
    root = logging.getLogger()
    root.addHandler(console)
    try:
        yield
    finally:
        root.removeHandler(console)
        console.close()
        del _consoles[id(core)]
