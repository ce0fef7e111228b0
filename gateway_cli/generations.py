"""Reloading: a new generation of processes on the same listening socket, while the old one ends.

```text
first process: socket, lock of the data directory, and the first generation
  └─ exec ─▶ generation 2 ── fork ─▶ its workers, if there are several
  └─ exec ─▶ generation 3 …
```

A generation is the same command once more, so it imports what is installed now. The one before is
retired as soon as the new one serves: it accepts no more, and ends with its last request. One that
does not start changes nothing. All generations end when the first process is gone.
"""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from .listening import INHERITED
from .signals import RETIRE

log = logging.getLogger(__name__)

MOST_OLD = 4
"""Generations that finish their requests; with more of them the next one waits for an end."""
READY = b"ready"
LONGEST_REPORT = 4096


class Inherited(Struct, frozen=True):
    """Descriptors that a generation gets from the first process."""

    listener: int
    reports: int
    """Says that the generation serves, or why it does not; its end is the generation's."""
    lifeline: int
    """Becomes readable when the first process is gone."""

    @classmethod
    def parse(cls, text: str) -> "Inherited":
        inherited = cls(*map(int, text.split(",")))
        for descriptor in (inherited.listener, inherited.reports, inherited.lifeline):
            os.set_inheritable(descriptor, False)
        return inherited

    def report(self, text: bytes) -> None:
        with suppress(OSError):  # The first process is gone.
            os.write(self.reports, text[:LONGEST_REPORT])


class Generation(Struct, eq=False):
    """A generation that was started, as the first process sees it."""

    number: int
    process: "subprocess.Popen[bytes]"
    problem: str = ""


class Generations:
    """Starts generations and retires them, one after the other.

    Whoever has it calls ``receive`` when a descriptor of ``reporting`` can be read; an event loop
    does so by itself.
    """

    def __init__(
        self,
        listener: socket.socket,
        lifeline: int,
        retire_first: Callable[[], None],
        stop_all: Callable[[], None],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """``listener`` is closed by ``stop``. ``retire_first`` retires the generation of this
        process; ``stop_all`` is called when the one that serves has ended."""
        self._listener, self._lifeline = listener, lifeline
        self._retire_first, self._stop_all, self._loop = retire_first, stop_all, loop
        self._starting: Generation | None = None
        self._serving: Generation | None = None
        """``None`` while this process' own serves."""
        self._count = 1
        self._is_wanted = self._is_stopping = self._is_first_over = False
        self.reporting: dict[int, Generation] = {}
        """Every generation that has not ended, by the descriptor that it reports on."""
        self.has_failed = False
        self._over = asyncio.Event()

    def request(self) -> None:
        """Start the next generation, as soon as that is possible."""
        self._is_wanted = True
        self._start_if_possible()

    def stop(self) -> None:
        """Ask every generation to stop; once more, to hurry."""
        self._is_stopping = True
        self._listener.close()
        for generation in self.reporting.values():
            generation.process.terminate()

    def end_first(self) -> None:
        """The generation of this process has ended."""
        if not self._is_first_over:
            self._is_first_over = True
            self._start_if_possible()

    async def wait(self) -> None:
        """Wait until no generation is left."""
        while self.reporting:
            self._over.clear()
            await self._over.wait()

    def receive(self, descriptor: int) -> None:
        """Read what a generation reports."""
        generation, report = self.reporting[descriptor], os.read(descriptor, LONGEST_REPORT)
        if report == READY:
            self._begin_serving(generation)
        elif report:
            generation.problem = report.decode(errors="replace")
        else:
            self._end(descriptor, generation)
        self._start_if_possible()

    def _start_if_possible(self) -> None:
        if not self._is_wanted or self._starting is not None or self._is_stopping:
            return
        # Of those that report one serves, unless this process' own does.
        old = len(self.reporting) - self._is_first_over if self._serving is not None else 0
        if old >= MOST_OLD:
            log.warning("%d generations still finish their requests: a reload waits for one", old)
            return
        self._is_wanted = False
        self._count += 1
        try:
            self._start()
        except OSError as error:
            log.error("generation %d cannot be started: %s", self._count, error)

    def _start(self) -> None:
        receiver, sender = os.pipe()
        inherited = (self._listener.fileno(), sender, self._lifeline)
        command = [sys.executable, *sys.orig_argv[1:], INHERITED, ",".join(map(str, inherited))]
        try:
            # A group of its own: what a terminal sends is for the first process, which passes on
            # what is meant.
            process = subprocess.Popen(command, pass_fds=inherited, process_group=0)
        except OSError:
            os.close(receiver)
            raise
        finally:
            os.close(sender)
        self._starting = self.reporting[receiver] = Generation(self._count, process)
        if self._loop is not None:
            self._loop.add_reader(receiver, self.receive, receiver)

    def _begin_serving(self, generation: Generation) -> None:
        before, self._serving, self._starting = self._serving, generation, None
        message = "generation %d serves (process %d); the one before finishes what runs"
        log.info(message, generation.number, generation.process.pid)
        if before is None:
            self._retire_first()
        elif RETIRE is not None:
            before.process.send_signal(RETIRE)

    def _end(self, descriptor: int, generation: Generation) -> None:
        if self._loop is not None:
            self._loop.remove_reader(descriptor)
        os.close(descriptor)
        del self.reporting[descriptor]
        code = generation.process.wait()
        if generation is self._starting:
            self._starting = None
            why = generation.problem or f"it ended with {code}"
            if not self._is_stopping:
                message = "generation %d does not start, the one before goes on serving: %s"
                log.error(message, generation.number, why)
        elif code not in (0, -signal.SIGTERM):
            log.error("generation %d ended with %d", generation.number, code)
            self.has_failed |= generation is self._serving or self._is_stopping
        if generation is self._serving and not self._is_stopping:
            # With 0 it was stopped by the management API, as all are then.
            self._stop_all()
        if not self.reporting:
            self._over.set()
