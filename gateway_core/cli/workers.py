"""Several worker processes on one listening socket, and the process that looks after them.

The socket is opened once and inherited: there is one queue of new connections,
whoever is free takes the next, a worker that dies loses none of them, and a
second gateway on the same port is noticed, which it would not be if each
worker bound the port by itself.

```text
parent: port, data directory's lock ── fork ──▶ worker 1 (opens the data first)
                                    └─ fork ──▶ worker 2 … N
```

A worker that dies is started again, later and later when it dies quickly. The
parent passes SIGTERM on and ends when all workers have ended; one that ends in
order has been asked to over the network, and all are stopped. Workers end when
the parent is gone.
"""

import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from .signals import stops_on_hangup
from .worker_info import WorkerInfo

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0
STEADY = 10.0
"""Seconds after which a worker that dies is not taken for one that cannot start."""
_SIGNALS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
]


Work = Callable[[WorkerInfo], None]


class Slot:
    """One worker, and the next one in its info."""

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


def supervise(workers: int, work: Work, already: Sequence[int] = ()) -> int:
    """Run workers until a signal asks for a stop, and give the exit code.

    ``already`` are signals that came before they were listened to here.
    """
    with _signals() as (awoken, asked):
        asked.extend(already)
        return Supervisor(workers, work, awoken, asked).run()


class Supervisor:
    """Starts workers, starts them again, and passes signals on."""

    def __init__(self, workers: int, work: Work, awoken: int, asked: list[int]) -> None:
        self._work = work
        self._awoken = awoken
        """A descriptor that can be read when a signal has come."""
        self._asked = asked
        self._passed = 0
        self._slots = [Slot(number) for number in range(workers)]
        self._lifeline = os.pipe()
        self._failed = False

    def run(self) -> int:
        first = self._slots[0]
        if not self._start_first(first):
            return 1
        for slot in self._slots[1:]:
            self._start(slot)
        while not self._stopping or self._alive():
            self._pass_signals()
            self._wait()
            self._reap()
            if not self._stopping:
                self._restart()
        return 1 if self._failed else 0

    @property
    def _stopping(self) -> bool:
        return bool(self._asked)

    def _start_first(self, slot: Slot) -> bool:
        """Let one worker open the data alone; true unless it could not, and nobody said stop."""
        self._start(slot, is_first=True)
        process, ready = slot.process, slot.ready
        assert process is not None
        assert ready is not None
        while process.is_alive() and not self._stopping:
            if ready in wait([ready, process.sentinel, self._awoken]):
                break
        # An end that nobody asked for and without a word is a start that failed.
        return self._stopping or (process.is_alive() and ready.poll())

    def _start(self, slot: Slot, *, is_first: bool = False) -> None:
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        info = WorkerInfo(
            number=slot.number,
            workers=len(self._slots),
            parent=self._lifeline[0],
            is_first=is_first,
            report_ready=partial(_report_ready, sender),
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

    def _pass_signals(self) -> None:
        while self._passed < len(self._asked):
            self._passed += 1
            for process in self._alive():
                process.terminate()

    def _wait(self) -> None:
        due = [slot.due for slot in self._slots if slot.process is None]
        pause = max(0.0, min(due) - time.monotonic()) if due and not self._stopping else None
        found = wait([*(process.sentinel for process in self._alive()), self._awoken], pause)
        if self._awoken in found:
            os.read(self._awoken, 4096)

    def _reap(self) -> None:
        for slot in self._slots:
            process = slot.process
            if process is None or process.is_alive():
                continue
            slot.process = None
            if slot.ready is not None:
                slot.ready.close()
            if process.exitcode == 0 and not self._stopping:
                # It was asked to stop where the parent cannot hear: all are meant.
                self._asked.append(signal.SIGTERM)
            if self._stopping:
                self._failed |= process.exitcode not in (0, -signal.SIGTERM)
            else:
                self._plan(slot, process)
            process.close()

    def _plan(self, slot: Slot, process: BaseProcess) -> None:
        """Decide when a dead worker is replaced."""
        now = time.monotonic()
        if now - slot.begun > STEADY:
            slot.pause = FIRST_PAUSE
        log.error(
            "worker %d (process %s) ended with %s; it is started again in %.1f s",
            *(slot.number, process.pid, process.exitcode, slot.pause),
        )
        slot.due = now + slot.pause
        slot.pause = min(LONGEST_PAUSE, 2 * slot.pause)

    def _restart(self) -> None:
        now = time.monotonic()
        for slot in self._slots:
            if slot.process is None and slot.due <= now:
                self._start(slot)


def _begin(work: Work, info: WorkerInfo, lifeline: int, receiver: Connection) -> None:
    """The first steps of a worker: nothing of the parent's stays but the sockets."""
    os.close(lifeline)
    receiver.close()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A terminal sends them to all processes at once; the parent passes on what is meant.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    work(info)
    sys.stdout.flush()


def _report_ready(sender: Connection) -> None:
    """Tell the parent that a worker serves. A parent that is gone is noticed elsewhere."""
    with suppress(OSError):
        sender.send_bytes(b"ready")


@contextmanager
def _signals() -> Iterator[tuple[int, list[int]]]:
    """A descriptor that wakes when a signal comes, and the signals that have come."""
    asked: list[int] = []
    awoken, wake = os.pipe()
    os.set_blocking(wake, False)

    def ask(number: int, frame: object) -> None:
        # A terminal that is closed may say so twice, which hurries nothing.
        if number != signal.SIGHUP or not asked:
            asked.append(number)

    heeded = [name for name in _SIGNALS if name != signal.SIGHUP or stops_on_hangup()]
    before = {name: signal.signal(name, ask) for name in heeded}
    signal.set_wakeup_fd(wake)
    try:
        yield awoken, asked
    finally:
        signal.set_wakeup_fd(-1)
        for name, handler in before.items():
            signal.signal(name, handler)
        os.close(awoken)
        os.close(wake)
