"""The last lines of this process's log, kept in memory for the translator's pages."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from gateway_core.pipeline.context import Collaborators

LINES = 500
BEHIND = 200
"""Lines that a slow reader may lag behind before it misses some."""
LOGGERS = ("gateway_core", "gateway_dashboard_api")
Entry = str | None
"""A line; ``None`` means that the log was cleared."""


_consoles: dict[int, "Console"] = {}
"""By the identity of a running gateway's core."""


class Console(logging.Handler):
    """A log handler that keeps the last lines and passes new ones to readers."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque(maxlen=LINES)
        self._readers: set[asyncio.Queue[Entry]] = set()
        self._loop = asyncio.get_running_loop()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = f"{record.levelname} {record.name}: {record.getMessage()}"
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

    def _take(self, line: str) -> None:
        self._lines.append(line)
        self._tell(line)

    def _tell(self, entry: Entry) -> None:
        for queue in self._readers:
            if not queue.full():
                queue.put_nowait(entry)


def console_of(core: Collaborators) -> Console | None:
    """Return the console of a running gateway; ``None`` while the translator is off."""
    return _consoles.get(id(core))


@asynccontextmanager
async def capture_log(core: Collaborators) -> AsyncIterator[None]:
    """Capture the log until the block ends, if the translator is on."""
    if not core.environment.enable_translator:
        yield
        return
    console = Console()
    _consoles[id(core)] = console
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addHandler(console)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(console)
        console.close()
        del _consoles[id(core)]
