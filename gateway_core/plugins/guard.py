"""Runs a plugin's code where nothing it does can stop the gateway.

The code runs on one helper thread that serves call after call. A call that
takes too long loses its thread: the next call gets a new one, and since such
threads are daemons, none of them keeps the process from ending.
"""

import importlib
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from os.path import basename, dirname, sep
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TypeVar

import pluggy

T = TypeVar("T")

LONGEST_REASON = 500
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
    """Gives plugin code a limit in seconds. Used from one thread, as a context manager."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
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

    def run(self, work: Callable[[], T]) -> T:
        """Do the work and give its result. Raises PluginFailed, and nothing else of the work's."""
        if self._worker is None:
            self._worker = _Worker()
        result: list[T] = []
        self._worker.inbox.put(lambda: result.append(work()))
        try:
            failure = self._worker.outbox.get(timeout=self._limit)
        except Empty:
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.dismiss()
                _interrupt(worker)
            raise PluginFailed(f"did not finish within {self._limit:g} s") from None
        if failure is not None:
            raise failure
        return result[0]


class _Worker(threading.Thread):
    """Does what is put into its inbox and answers each with what went wrong, if anything did."""

    def __init__(self) -> None:
        super().__init__(name="plugin guard", daemon=True)
        self.inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.outbox: SimpleQueue[PluginFailed | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        with suppress(SystemExit):  # an interruption may arrive when the work is just done
            while (work := self.inbox.get()) is not None:
                failure = None
                try:
                    work()
                except BaseException as error:  # SystemExit too: it is not our code
                    failure = _describe(error)
                self.outbox.put(failure)

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
