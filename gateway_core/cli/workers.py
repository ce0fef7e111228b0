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


def supervise(workers: int, work: Work, already: Sequence[int] = ()) -> int:
    """Run workers until a signal asks for a stop, and give the exit code.

    ``already`` are signals that came before they were listened to here.
    """
    with _collect_signals() as (wakeup, signals):
        signals.extend(already)
        return Supervisor(workers, work, wakeup, signals).run()


class Supervisor:
    """Starts workers, starts them again, and passes signals on."""

    def __init__(self, workers: int, work: Work, wakeup: int, signals: list[int]) -> None:
        self._work = work
        self._wakeup = wakeup
        """A descriptor that can be read when a signal has come."""
        self._signals = signals
        """Signals to stop that have come."""
        self._passed = 0
        """How many of them were passed on to the workers."""
        self._slots = [Slot(number) for number in range(workers)]
        self._lifeline = os.pipe()
        self._failed = False

    def run(self) -> int:
        # The first worker opens the data alone; if it fails, no other one is started.
        first, *others = self._slots
        self._start(first, is_first=True)
        process, ready = first.process, first.ready
        assert process is not None
        assert ready is not None
        while process.is_alive() and not self._stopping:
            if ready in wait([ready, process.sentinel, self._wakeup]):
                break
        # A worker that ends by itself without having reported has failed to start.
        if not self._stopping and not (process.is_alive() and ready.poll()):
            return 1
        for slot in others:
            self._start(slot)
        while not self._stopping or self._alive():
            while self._passed < len(self._signals):
                self._passed += 1
                for process in self._alive():
                    process.terminate()
            due = [slot.due for slot in self._slots if slot.process is None]
            pause = max(0.0, min(due) - time.monotonic()) if due and not self._stopping else None
            sentinels = [process.sentinel for process in self._alive()]
            if self._wakeup in wait([*sentinels, self._wakeup], pause):
                os.read(self._wakeup, 4096)
            self._reap()
            now = time.monotonic()
            for slot in self._slots:
                if slot.process is None and slot.due <= now and not self._stopping:
                    self._start(slot)
        return 1 if self._failed else 0

    @property
    def _stopping(self) -> bool:
        return bool(self._signals)

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
        for slot in self._slots:
            process = slot.process
            if process is None or process.is_alive():
                continue
            slot.process = None
            if slot.ready is not None:
                slot.ready.close()
            if process.exitcode == 0 and not self._stopping:
                # A call to the management API stopped this worker: all are to stop.
                self._signals.append(signal.SIGTERM)
            if self._stopping:
                self._failed |= process.exitcode not in (0, -signal.SIGTERM)
            else:
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
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A terminal sends them to all processes at once; the parent passes on what is meant.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    work(info)
    sys.stdout.flush()


@contextmanager
def _collect_signals() -> Iterator[tuple[int, list[int]]]:
    """A descriptor that wakes when a signal comes, and the signals that have come."""
    received: list[int] = []
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)

    def receive(number: int, frame: object) -> None:
        # A terminal that is closed may say so twice, which hurries nothing.
        if number != signal.SIGHUP or not received:
            received.append(number)

    handled = [name for name in _SIGNALS if name != signal.SIGHUP or stops_on_hangup()]
    before = {name: signal.signal(name, receive) for name in handled}
    signal.set_wakeup_fd(wake)
    try:
        yield wakeup, received
    finally:
        signal.set_wakeup_fd(-1)
        for name, handler in before.items():
            signal.signal(name, handler)
        os.close(wakeup)
        os.close(wake)
