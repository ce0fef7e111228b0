"""Several worker processes on one listening socket, and the process that looks after them.

The socket is opened once and inherited: there is one queue of new connections,
a free worker takes the next, a worker that dies loses none of them, and a
second gateway on the same port is noticed, which it would not be if each
worker bound the port by itself.

```text
parent: port, data directory's lock ── fork ──▶ worker 1 (opens the data first)
                                    └─ fork ──▶ worker 2 … N
```

A worker that dies is started again, later and later when it dies quickly. The
parent passes SIGTERM on and ends when all workers have ended; one that ends in
order was stopped by the management API, and all are stopped. Workers end when
the parent is gone. A reload retires them all: see ``generations``.
"""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from .generations import READY, Generations, Inherited
from .signals import HANGUP, RETIRE, Meaning, hangup
from .worker_info import WorkerInfo

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0
STEADY = 10.0
"""Seconds after which a worker that dies is not taken for one that cannot start."""
_STOPS = (signal.SIGTERM, signal.SIGINT)
_SIGNALS = [name for name in (*_STOPS, HANGUP, RETIRE) if name is not None]


Work = Callable[[WorkerInfo], None]


class Slot:
    """One worker, and the one that replaces it when it dies."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: BaseProcess | None = None
        self.ready: Connection | None = None
        self.begun = 0.0
        self.pause = FIRST_PAUSE
        self.due = 0.0
        """When the next one is to be started."""


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


class Received:
    """The signals that have come and wait to be acted on."""

    def __init__(self, already: Sequence[int]) -> None:
        self.stops = [number for number in already if number != HANGUP]
        self.wants_reload = HANGUP in already
        self.is_retired = False

    def receive(self, number: int, frame: object) -> None:
        if number == RETIRE:
            self.is_retired = True
        elif number != HANGUP:
            self.stops.append(number)
        elif (meaning := hangup.meaning()) is Meaning.RELOAD:
            self.wants_reload = True
        elif meaning is Meaning.STOP and not self.stops:
            # A terminal that is closed may say so twice, which hurries nothing.
            self.stops.append(number)


def supervise(
    workers: int,
    work: Work,
    already: Sequence[int] = (),
    *,
    listener: socket.socket | None = None,
    inherited: Inherited | None = None,
) -> int:
    """Run workers until a signal asks for a stop, and give the exit code.

    ``already`` are signals that came before they were listened to here; SIGHUP is a reload. With
    ``listener`` a reload starts further generations on it; ``inherited`` is what one of these has
    of the first process.
    """
    received = Received(already)
    with _collect_signals(received) as wakeup:
        return Supervisor(workers, work, wakeup, received, listener, inherited).run()


class Supervisor:
    """Starts workers, starts them again, and passes signals on."""

    def __init__(
        self,
        workers: int,
        work: Work,
        wakeup: int,
        received: Received,
        listener: socket.socket | None,
        inherited: Inherited | None,
    ) -> None:
        self._work = work
        self._wakeup = wakeup
        """A descriptor that can be read when a signal has come."""
        self._received = received
        self._passed = 0
        """How many signals to stop were passed on to the workers."""
        self._is_retired = False
        """No worker is started any more, and those that run end with their last request."""
        self._slots = [Slot(number) for number in range(workers)]
        self._lifeline = os.pipe()
        self._inherited = inherited
        self._generations: Generations | None = None
        if listener is not None:
            self._generations = Generations(
                listener, self._lifeline[0], self._retire, self._stop_all
            )
        self._failed = False

    def run(self) -> int:
        # The first worker opens the data alone; if it fails, no other one is started.
        first, *others = self._slots
        self._start(first, is_first=self._inherited is None)
        process, ready = first.process, first.ready
        assert process is not None
        assert ready is not None
        while process.is_alive() and not self._stopping:
            if ready in self._wait([ready, process.sentinel]):
                break
        # A worker that ends by itself without having reported has failed to start.
        if not self._stopping and not (process.is_alive() and ready.poll()):
            return 1
        if self._inherited is not None:
            self._inherited.report(READY)
        for slot in others:
            self._start(slot)
        while self._goes_on():
            self._pass_on()
            due = [slot.due for slot in self._slots if slot.process is None]
            is_restarting = due and not (self._stopping or self._is_retired)
            pause = max(0.0, min(due) - time.monotonic()) if is_restarting else None
            self._wait([process.sentinel for process in self._alive()], pause)
            self._reap()
            now = time.monotonic()
            for slot in self._slots:
                is_missing = slot.process is None and slot.due <= now
                if is_missing and not (self._stopping or self._is_retired):
                    self._start(slot)
        return 1 if self._failed or (self._generations and self._generations.has_failed) else 0

    @property
    def _stopping(self) -> bool:
        return bool(self._received.stops)

    def _goes_on(self) -> bool:
        if self._alive() or not (self._stopping or self._is_retired):
            return True
        if self._generations is None:
            return False
        self._generations.end_first()
        return bool(self._generations.reporting)

    def _wait(self, ended: Sequence[Connection | int], pause: float | None = None) -> list[object]:
        """Wait for one of these, for a signal or for what another generation reports."""
        reporting = [] if self._generations is None else list(self._generations.reporting)
        parent = [] if self._inherited is None else [self._inherited.lifeline]
        readable = wait([*ended, self._wakeup, *reporting, *parent], pause)
        if self._wakeup in readable:
            os.read(self._wakeup, 4096)
        for descriptor in reporting:
            if self._generations is not None and descriptor in readable:
                self._generations.receive(descriptor)
        if self._inherited is not None and self._inherited.lifeline in readable:
            self._inherited = None
            self._stop_all()
        return list(readable)

    def _pass_on(self) -> None:
        """Act on the signals that have come."""
        received, generations = self._received, self._generations
        while self._passed < len(received.stops):
            self._passed += 1
            for process in self._alive():
                process.terminate()
            if generations is not None:
                generations.stop()
        if received.wants_reload and generations is not None:
            received.wants_reload = False
            generations.request()
        if received.is_retired and not self._is_retired:
            self._retire()

    def _retire(self) -> None:
        self._is_retired = True
        for process in self._alive():
            if RETIRE is not None and process.pid is not None:
                os.kill(process.pid, RETIRE)

    def _stop_all(self) -> None:
        self._received.stops.append(signal.SIGTERM)

    def _start(self, slot: Slot, *, is_first: bool = False) -> None:
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)

        def report_ready() -> None:
            # The lifeline shows a parent that is gone.
            with suppress(OSError):
                sender.send_bytes(b"ready")

        info = WorkerInfo(
            number=slot.number,
            workers=len(self._slots),
            parent=self._lifeline[0],
            is_first=is_first,
            report_ready=report_ready,
        )
        slot.process = context.Process(
            target=_begin, args=(self._work, info, self._lifeline[1], receiver)
        )
        slot.begun = time.monotonic()
        # Until it has handlers of its own, a signal must not reach the parent's in the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            slot.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        sender.close()
        slot.ready = receiver

    def _alive(self) -> list[BaseProcess]:
        return [slot.process for slot in self._slots if slot.process is not None]

    def _reap(self) -> None:
        retired = -RETIRE if self._is_retired and RETIRE is not None else 0
        for slot in self._slots:
            process = slot.process
            if process is None or process.is_alive():
                continue
            slot.process = None
            if slot.ready is not None:
                slot.ready.close()
            if process.exitcode == 0 and not (self._stopping or self._is_retired):
                # A call to the management API stopped this worker: all are to stop.
                self._stop_all()
            if self._stopping:
                self._failed |= process.exitcode not in (0, -signal.SIGTERM, retired)
            elif not self._is_retired:
                now = time.monotonic()
                if now - slot.begun > STEADY:
                    slot.pause = FIRST_PAUSE
                log.error(
                    "worker %d (process %s) ended with %s; it is started again in %.1f s",
                    *(slot.number, process.pid, process.exitcode, slot.pause),
                )
                slot.due = now + slot.pause
                slot.pause = min(LONGEST_PAUSE, 2 * slot.pause)
            process.close()


def _begin(work: Work, info: WorkerInfo, lifeline: int, receiver: Connection) -> None:
    """Undo what a worker has inherited from its parent, except the sockets, and run it."""
    os.close(lifeline)
    receiver.close()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, RETIRE):
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    # A terminal sends them to all processes at once; the parent passes on what is meant.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    work(info)
    sys.stdout.flush()


@contextmanager
def _collect_signals(received: Received) -> Iterator[int]:
    """A descriptor that wakes when a signal has come."""
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)
    before = {name: signal.signal(name, received.receive) for name in _SIGNALS}
    signal.set_wakeup_fd(wake)
    try:
        yield wakeup
    finally:
        signal.set_wakeup_fd(-1)
        for name, handler in before.items():
            signal.signal(name, handler)
        os.close(wakeup)
        os.close(wake)
