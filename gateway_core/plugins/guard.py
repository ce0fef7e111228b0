"""Runs a plugin's code where nothing it does can stop the gateway.

The code runs on one helper thread that serves call after call. A call that
stands still is left alone with its thread, and the next ones get a new one:
many that hang take hardly longer than one. One guard serves a whole start, and
its patience shrinks with each stage in which some hang, so that all stages take
hardly longer than one. Since such threads are daemons, none of them keeps the
process from ending.
"""

import importlib
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from os.path import basename, dirname, sep
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

import pluggy

T = TypeVar("T")

LONGEST_REASON = 500
LOOK = 0.02
"""Seconds between two looks at whether a call stands still."""
SHARE = 0.25
"""How much of the patience is left after a stage in which some hung."""
LEAST = 0.25
"""Seconds from which on the patience stays, since sound plugins need some too. With a limit of 4
the sixteen stages of a start wait for 8.5 at most."""
_WAY_IN = ("<frozen ", *(f"{dirname(str(each.__file__))}{sep}" for each in (importlib, pluggy)))
_WAY_IN += (f"{dirname(__file__)}{sep}",)
"""How the files begin that lead from here into a plugin."""


class PluginFailed(Exception):
    """A plugin's code raised, tried to leave the process or did not come back.

    The message says which, in one line; ``trace`` is the traceback as text,
    empty when there is none, and ``place`` the plugin's own line, empty where
    that is not known or the message has it.
    """

    def __init__(self, reason: str, trace: str = "", place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.trace = trace
        self.place = place


class LoadGuard:
    """Gives plugin code a limit in seconds. Used from one thread, as a context manager, again
    and again."""

    def __init__(self, limit: float) -> None:
        self.limit = self.patience = limit
        self._worker: _Worker | None = None

    def __enter__(self) -> "LoadGuard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._worker is not None:
            self._worker.dismiss()
            self._worker = None

    def lose_patience(self) -> None:
        """Some took all of it."""
        self.patience = max(self.patience * SHARE, min(self.patience, LEAST))

    def run(self, work: Callable[[], T]) -> T:
        """Do the work and give its result. Raises PluginFailed, and nothing else of the work's."""
        [outcome] = self.run_all((work,))
        if isinstance(outcome, PluginFailed):
            raise outcome
        return outcome

    def run_all(
        self, works: Sequence[Callable[[], T]], *, in_turn: bool = False
    ) -> list[T | PluginFailed]:
        """What comes of each work, in their order.

        They are done one after another. One that stands still keeps nobody waiting: the next are
        done meanwhile, so that limits run side by side, unless they are to be done ``in_turn``.
        A limit begins with the work, and again whenever another comes back.
        """
        if in_turn:
            return [outcome for work in works for outcome in self.run_all((work,))]
        batch = _Batch[T](works)
        workers, has_waited = [self._begin(batch)], False
        while len(batch.outcomes) < len(works):
            before = time.monotonic()
            batch.is_over.wait(min(LOOK, self.patience))
            # A machine that is busy keeps the work waiting as it does this thread.
            batch.now += min(time.monotonic() - before, 2 * LOOK)
            batch.is_over.clear()
            for worker in workers[:]:
                if self._is_given_up(worker, batch):
                    has_waited = True
                    workers.remove(worker)
                    worker.leave()
                    _interrupt(worker)
            if (not workers or workers[-1].stands_still()) and batch.has_more():
                for worker in workers[-1:]:
                    worker.leave()
                self._worker = None
                workers.append(self._begin(batch))
        if self._worker not in workers:
            self._worker = None
        if has_waited:
            self.lose_patience()
        return [batch.outcomes[number] for number in range(len(works))]

    def _begin(self, batch: "_Batch[T]") -> "_Worker":
        if self._worker is None:
            self._worker = _Worker()
        self._worker.inbox.put(batch.do)
        return self._worker

    def _is_given_up(self, worker: "_Worker", batch: "_Batch[T]") -> bool:
        """Whether the time of what it does is up, and it has not come back at the last moment."""
        at = worker.at
        if at is None or batch.now < max(at[1], batch.latest) + self.patience:
            return False
        failure = PluginFailed(f"did not finish within {self.patience:g} s")
        return batch.outcomes.setdefault(at[0], failure) is failure


class _Batch(Generic[T]):
    """Works that threads take one by one."""

    def __init__(self, works: Sequence[Callable[[], T]]) -> None:
        self.outcomes: dict[int, T | PluginFailed] = {}
        self.now = self.latest = 0.0
        """Seconds since it was begun, and those after which one came back last."""
        self.is_over = threading.Event()
        """A thread finds nothing more to do."""
        self._works = works
        self._left = iter(range(len(works)))
        self._taken = 0

    def has_more(self) -> bool:
        return self._taken < len(self._works)

    def do(self, worker: "_Worker") -> None:
        while not worker.is_left and (number := next(self._left, None)) is not None:
            self._taken += 1
            worker.at = number, self.now
            outcome: T | PluginFailed
            try:
                outcome = self._works[number]()
            except BaseException as error:  # SystemExit too: it is not our code
                outcome = _describe(error)
            self.outcomes.setdefault(number, outcome)
            worker.at, self.latest = None, self.now
        self.is_over.set()


class _Worker(threading.Thread):
    """Does what is put into its inbox."""

    def __init__(self) -> None:
        super().__init__(name="plugin guard", daemon=True)
        self.inbox: SimpleQueue[Callable[[_Worker], None] | None] = SimpleQueue()
        self.at: tuple[int, float] | None = None
        """The number of the work it does, and since when."""
        self.is_left = False
        """Others go on with the batch."""
        self._seen: object = None
        self.start()

    def run(self) -> None:
        with suppress(SystemExit):  # an interruption may arrive when the work is just done
            while (work := self.inbox.get()) is not None:
                work(self)

    def stands_still(self) -> bool:
        """Whether it does the same work at the same place as when this was last called."""
        frame = sys._current_frames().get(self.ident or 0)
        before, self._seen = self._seen, (self.at, id(frame), frame.f_lasti if frame else 0)
        return self.at is not None and self._seen == before

    def leave(self) -> None:
        """Have others go on; the thread ends after the work it has in hand."""
        self.is_left = True
        self.dismiss()

    def dismiss(self) -> None:
        """End the thread after the work it has in hand."""
        self.inbox.put(None)


def _describe(error: BaseException) -> PluginFailed:
    """What went wrong, with the traceback from the plugin's first line on and its own last line.

    Made on the helper thread, because an exception's own methods are the plugin's too.
    """
    if isinstance(error, SystemExit):
        reason = f"tried to end the process with sys.exit({error.code!r})"
    else:
        try:
            message = "".join(filter(str.isprintable, " ".join(str(error).split())))
        except Exception:
            message = "its message cannot be shown"
        reason = f"{type(error).__name__}: {message}" if message else type(error).__name__
    failure = PluginFailed(reason[:LONGEST_REASON])
    with suppress(Exception):
        trace, first = error.__traceback__, ""
        # What leads to the plugin's code tells its author nothing.
        while trace is not None:
            first = trace.tb_frame.f_code.co_filename
            if not first.startswith(_WAY_IN):
                break
            trace = trace.tb_next
        text = "".join(traceback.format_exception(type(error), error, trace))
        if trace is None or isinstance(error, SyntaxError):
            failure.trace = text
        else:
            # The last line that is in the file, or the package, of the first one.
            home = f"{dirname(first)}{sep}" if basename(first) == "__init__.py" else first
            lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
            file, line = [(file, line) for file, line in lines if file.startswith(home)][-1]
            failure.trace, failure.place = text, f"{basename(file)}, line {line}"
    return failure


def _interrupt(worker: threading.Thread) -> None:
    """Ask an abandoned thread to stop.

    This ends a busy loop, which would otherwise take turns at the interpreter
    for as long as the gateway lives, and frees the import lock it holds. A
    thread that sleeps in the operating system costs nothing and stays.
    """
    import ctypes

    if worker.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(worker.ident), ctypes.py_object(SystemExit)
        )
